// Runs the contract suite from the packed packages on every runtime that is supported: pnpm runtimes, see README.md.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, startRedis } from "@bq/idempotency-test-servers";
import { startRegistry } from "../registry.ts";
import { planRelease } from "../release/plan.ts";
import { runContract, type Surroundings } from "./run-contract.ts";
import { backends, type Runtime, runtimes } from "./runtime.ts";

const nameOf = ({ name }: Runtime) => name.toLowerCase().replace(" ", "");
const wanted = process.argv.slice(2);
const chosen = runtimes.filter((runtime) => wanted.length === 0 || wanted.includes(nameOf(runtime)));
if (chosen.length < wanted.length) {
  console.error(`Runtimes are ${runtimes.map(nameOf).join(", ")}; got ${wanted.join(" ")}.`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "bq-runtimes-"));
try {
  await using redis = await startRedis();
  await using postgres = await startPostgres();
  const release = await planRelease(join(folder, "tarballs"));
  await using registry = await startRegistry(release.map(({ tarball }) => tarball));
  const postgresUrl = await postgres.createDatabase();
  for (const runtime of chosen) {
    await report(runtime, { folder, registryUrl: registry.url, redisUrl: redis.url, postgresUrl });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function report(runtime: Runtime, surroundings: Surroundings): Promise<void> {
  const { name, drivers } = runtime;
  const startedAt = performance.now();
  const { version, passed, failed, output } = await runContract(runtime, backends, surroundings);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const used = backends.map((backend) => (backend === "memory" ? backend : drivers[backend]));
  console.log(
    `${name} (${version}): ${passed} passed, ${failed} failed, ${seconds} s, on ${used.join(", ")}`,
  );
  if (failed === 0) return;
  console.log(output);
  process.exitCode = 1;
}
