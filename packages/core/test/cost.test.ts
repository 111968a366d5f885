import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

// A process of its own, so that neither the test runner's instrumentation nor its garbage is measured.
function measure(): { addedMicroseconds: number; bytesPerId: number; bytesPerIdWithTtl: number } {
  const script = fileURLToPath(new URL("cost.ts", import.meta.url));
  return JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", "--conditions=@bq/source", script], { encoding: "utf8" }),
  );
}

it("wrap adds at most a microsecond to a delivery, and a remembered UUID takes at most 200 bytes", {
  timeout: 60_000,
}, () => {
  const { addedMicroseconds, bytesPerId, bytesPerIdWithTtl } = measure();
  expect(addedMicroseconds).toBeLessThanOrEqual(1);
  expect(bytesPerId).toBeLessThanOrEqual(200);
  expect(bytesPerIdWithTtl).toBeLessThanOrEqual(200);
});
