import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { faketime } from "@bq/idempotency-test-servers";
import { expect, it } from "vitest";
import { RedisStore } from "../src/index.ts";
import { freshPrefix, plainClient, sharedUrl } from "./support/servers.ts";

const dayMs = 86_400_000;

it.each(["+1d", "-1d"])(
  "with a worker's clock %s from the server's, nothing expires early and nothing lives long",
  async (offset) => {
    const prefix = freshPrefix();
    const worker = fileURLToPath(new URL("workers/marker.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@bq/source", worker, sharedUrl, prefix],
      {
        env: {
          ...process.env,
          ...(await faketime(offset)),
        },
      },
    );
    expect(Math.abs(Number(stdout) - Date.now()), "the worker's clock is off").toBeGreaterThan(dayMs / 2);
    const client = plainClient(sharedUrl);
    for (const id of ["marked", "claimed"]) {
      const leftMs = await client.pttl(`${prefix}${id}`);
      expect(leftMs).toBeLessThanOrEqual(600_000);
      expect(leftMs).toBeGreaterThan(300_000);
    }
    const store = new RedisStore(client, { prefix });
    expect(await store.seen("marked")).toBe(true);
    expect((await store.claim("claimed", 1_000)).status).toBe("in-flight");
  },
  60_000,
);
