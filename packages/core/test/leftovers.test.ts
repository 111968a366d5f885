import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const index = new URL("../src/index.ts", import.meta.url).href;

/** Runs a program that imports the library, as a process of its own; the process ends when nothing keeps it alive. */
async function program(body: string): Promise<{ stdout: string; stderr: string; seconds: number }> {
  const source = `
    import { InMemoryStore, wrap, wrapClaiming } from ${JSON.stringify(index)};
    process.on("exit", (code) => console.log("exit", code));
    ${body}`;
  const startedAt = performance.now();
  const { stdout, stderr } = await run(
    process.execPath,
    ["--conditions=@bq/source", "--input-type=module-typescript", "--eval", source],
    { cwd: fileURLToPath(new URL("..", import.meta.url)) },
  ).catch((error: { stdout: string; stderr: string }) => error);
  return { stdout, stderr, seconds: (performance.now() - startedAt) / 1_000 };
}

it("a process whose handler never settles is not kept alive by its lease", async () => {
  const { stdout, stderr, seconds } = await program(`
    wrapClaiming(new InMemoryStore(), () => new Promise(() => {}), { leaseMs: 120_000 })({ meta: { id: "a" } });
    console.log("in flight");
  `);
  expect([stdout, stderr]).toEqual(["in flight\nexit 0\n", ""]);
  expect(seconds).toBeLessThan(30);
});

it("a process is done when its deliveries are: no timer is left behind", async () => {
  const { stdout, seconds } = await program(`
    const store = new InMemoryStore();
    const slow = { seen: async (id) => store.seen(id), remember: async (id) => store.remember(id), forget() {} };
    await wrap(slow, async () => {}, { storeTimeoutMs: 120_000 })({ meta: { id: "a" } });
    await wrapClaiming(store, async () => {}, { leaseMs: 120_000, storeTimeoutMs: 120_000 })({ meta: { id: "b" } });
    console.log(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length, "timers");
  `);
  expect(stdout).toBe("0 timers\nexit 0\n");
  expect(seconds).toBeLessThan(30);
});

it("a delivery that waits for a hung store is not done: the process stays until its timeout", async () => {
  const { stdout } = await program(`
    const hung = { seen: () => new Promise(() => {}), remember() {}, forget() {} };
    await wrap(hung, async () => {}, { storeTimeoutMs: 50 })({ meta: { id: "a" } }).catch((error) => console.log(error.code));
  `);
  expect(stdout).toBe("BQ_STORE_TIMEOUT\nexit 0\n");
});

it("a delivery that waits for an id in flight elsewhere keeps the process alive until waitMs is over", async () => {
  const { stdout } = await program(`
    const store = new InMemoryStore();
    store.claim("a", 60_000);
    await wrapClaiming(store, async () => {}, { waitMs: 50 })({ meta: { id: "a" } }).catch((error) => console.log(error.code));
  `);
  expect(stdout).toBe("BQ_CLAIM_PARKED\nexit 0\n");
});

it("failures of store, handler and observer at once leave no unhandled rejection", async () => {
  const { stdout, stderr } = await program(`
    const down = async () => { throw new Error("down"); };
    const store = { seen: down, remember: down, forget: down, claim: down, renew: down, commit: down, release: down };
    const observe = down;
    for (const onStoreFailure of ["throw", "run"]) for (const handler of [down, async () => "ran"]) {
      const options = { onStoreFailure, observe, markAttempts: 2 };
      await wrap(store, handler, options)({ meta: { id: "a" } }).catch(() => {});
      await wrapClaiming(store, handler, options)({ meta: { id: "a" } }).catch(() => {});
    }
    console.log("done");
  `);
  expect([stdout, stderr]).toEqual(["done\nexit 0\n", ""]);
});
