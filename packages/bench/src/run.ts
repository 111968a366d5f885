import { cpus, loadavg } from "node:os";
import type { BenchArguments } from "./arguments.ts";
import { type RunningBackend, startBackend } from "./backends.ts";
import { type Backend, backends, type Contestant } from "./contestant.ts";
import { type Growth, measureGrowth } from "./growth.ts";
import type { Progress } from "./progress.ts";
import { measurePurgePace, type PurgePace } from "./purge-pace.ts";
import type { ContestantInfo, Results } from "./results.ts";
import { measureInRounds } from "./rounds.ts";

/** Starts what the contestants need, measures them all, and ends what it started. */
export async function runBenchmark(
  chosen: readonly Contestant[],
  { profile, rounds, concurrencies, length, only }: BenchArguments,
  progress: Progress,
): Promise<Results> {
  const startedAt = new Date().toISOString();
  const before = loadavg()[0] ?? 0;
  const absent = chosen.flatMap((contestant) => {
    const reason = "absence" in contestant ? contestant.absence() : undefined;
    return reason === undefined ? [] : [{ name: contestant.name, reason }];
  });
  const present = chosen.filter(({ name }) => !absent.some((each) => each.name === name));
  await using running = await RunningBackends.start(present);
  const cells = await measureInRounds(present, running.byName, {
    rounds,
    concurrencies,
    length,
    onProgress: (round, contestant) => progress.round(round, rounds, contestant),
  });
  const postgres = running.byName.get("postgres");
  const grown = profile === "full" && only.length === 0 && postgres ? await grow(postgres, progress) : {};
  progress.clear();
  const processors = cpus();
  return {
    schemaVersion: 1,
    startedAt,
    profile,
    rounds,
    machine: {
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      processor: processors[0]?.model ?? "unknown",
      processors: processors.length,
      backends: running.descriptions(),
      load: { before, after: loadavg()[0] ?? 0 },
    },
    contestants: present.map(info),
    cells,
    absent,
    ...grown,
  };
}

/** What only a long run can tell: 10 million marks, and a purge under load. */
async function grow(
  postgres: RunningBackend,
  progress: Progress,
): Promise<{ growth: Growth; purge: PurgePace }> {
  progress.say("Postgres with 10 million marks");
  const growth = await measureGrowth(await postgres.clear(), {
    smallMarks: 10_000,
    largeMarks: 10_000_000,
    rounds: 5,
    length: { aboutMs: 1_000 },
  });
  progress.say("Purge under load");
  const purge = await measurePurgePace(await postgres.clear(), { expiredMarks: 500_000, watchMs: 20_000 });
  return { growth, purge };
}

function info(contestant: Contestant): ContestantInfo {
  const { name, side, backend, mode } = contestant;
  return { name, side, backend, mode, batchSize: "batchSize" in contestant ? contestant.batchSize : 1 };
}

/** The backends that somebody works on; all of them end together, also after a failure. */
class RunningBackends implements AsyncDisposable {
  readonly byName = new Map<Backend, RunningBackend>();

  static async start(contestants: readonly Contestant[]): Promise<RunningBackends> {
    const running = new RunningBackends();
    try {
      for (const backend of backends) {
        if (!contestants.some((contestant) => contestant.backend === backend)) continue;
        running.byName.set(backend, await startBackend(backend));
      }
      return running;
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
  }

  descriptions(): Partial<Record<Backend, string>> {
    return Object.fromEntries([...this.byName].map(([name, { description }]) => [name, description]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const backend of this.byName.values()) await backend[Symbol.asyncDispose]();
  }
}
