import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });

const execute = promisify(execFile);
const servers = new URL("../src/index.ts", import.meta.url).href;

/** What a process says in which nothing is on the PATH: no server, no apt-get, no docker. */
async function withoutPrograms(call: string): Promise<string> {
  const script = `import * as servers from ${JSON.stringify(servers)}; await servers.${call}; console.log("started");`;
  const args = ["--conditions=@bq/source", "--input-type=module", "--eval", script];
  const env = { ...process.env, PATH: "/nowhere", BQ_TEST_REDIS_URL: "" };
  const failed = await execute(process.execPath, args, { env }).catch((error: { stderr: string }) => error);
  return failed.stderr;
}

test.each(["redisForTests()", "startRedisReplicaSet()"])(
  "%s fails, and names what to install, where there is no Redis",
  async (call) => {
    expect(await withoutPrograms(call)).toContain(
      "The tests need Redis 7 or Valkey, and found neither redis-server nor valkey-server nor a way to install it. Either " +
        "put redis-server or valkey-server on the PATH (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis), " +
        "or start Docker, or set BQ_TEST_REDIS_URL to the URL of a server.",
    );
  },
);

test("startPgBouncer() fails, and names what to install, where there is no PgBouncer", async () => {
  const said = await withoutPrograms('startPgBouncer("postgres://postgres@127.0.0.1/postgres")');
  expect(said).toContain("The tests need PgBouncer, and found neither pgbouncer nor a way to install it.");
});

test("faketime() fails, and names what to install, where there is no libfaketime", async () => {
  const said = await withoutPrograms('faketime("+1d", { within: ["/nowhere"] })');
  expect(said).toContain("apt-get install libfaketime");
});
