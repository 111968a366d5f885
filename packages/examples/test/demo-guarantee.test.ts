import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import {
  histogram,
  histogramBesideTheGap,
  marks,
  row,
  runDemo,
  temporaryFolder,
  writeLog,
} from "./demo-process.ts";

const messages = Array.from({ length: 60 }, (_, index) =>
  JSON.stringify({ meta: { id: `#${index}` }, attempts: 0 }),
);
/** Each message three times, once soon after the other, and once at the end. */
const log = [...messages.flatMap((line) => [line, line]), ...messages].join("\n");

/** A module that spoils the store of the demo's workers. */
function spoilStore(patch: string): string {
  const path = join(temporaryFolder(), "spoil.mjs");
  const store = new URL("../../sqlite/src/index.ts", import.meta.url).href;
  writeFileSync(path, `import { SqliteStore } from ${JSON.stringify(store)};\n${patch}\n`);
  return pathToFileURL(path).href;
}

describe("the demo's verdict", () => {
  it("is good when every message had one effect", async () => {
    const demo = await runDemo([writeLog(log)]);
    expect(demo).toMatchObject({ code: 0, stderr: "" });
    expect(histogramBesideTheGap(demo)).toEqual({ 1: 60 });
  }, 60_000);

  it("with --gap names the one message that was killed between its effect and its mark", async () => {
    const demo = await runDemo(["--gap", writeLog(log)]);
    expect(demo).toMatchObject({ code: 0, stderr: "" });
    expect(histogram(demo)).toEqual({ 1: 59, 2: 1 });
    expect(demo.stdout).toMatch(
      /^Message "#\d+" had two effects: the kill fell between its effect and its mark\.$/m,
    );
    expect(row(demo, "unanswered").before).toBeGreaterThanOrEqual(1);
    expect(marks(demo).atEnd).toBe(60);
  }, 60_000);

  it("is bad, with exit code 3, when the store forgets what it was told to remember", async () => {
    const preload = spoilStore("SqliteStore.prototype.remember = async () => {};");
    const demo = await runDemo([writeLog(log)], { preload });
    expect(demo.code).toBe(3);
    expect(demo.stdout).toContain("This should not have happened:");
    expect(demo.stdout).toMatch(/(59|60) messages \("#0", "#1", "#2", …\) had more than one effect\./);
    expect(demo.stdout).toContain("60 messages were processed, but 0 are marked.");
  }, 60_000);

  it("is bad when the store calls a message processed that never ran", async () => {
    const preload = spoilStore(`
      const { seen } = SqliteStore.prototype;
      SqliteStore.prototype.seen = function (id) { return id === "#7" ? true : seen.call(this, id); };`);
    const demo = await runDemo([writeLog(log)], { preload });
    expect(demo.code).toBe(3);
    expect(demo.stdout).toContain('Message "#7" counted as processed without an effect.');
  }, 60_000);

  it("is bad when the store fails, and says how", async () => {
    const preload = spoilStore(
      `SqliteStore.prototype.seen = async () => { throw new Error("disk on fire"); };`,
    );
    const demo = await runDemo([writeLog(log)], { preload });
    expect(demo.code).toBe(3);
    expect(demo.stdout).toMatch(/The store failed \d+ times\. First: .*disk on fire/);
  }, 60_000);
});
