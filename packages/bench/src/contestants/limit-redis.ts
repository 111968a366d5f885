import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";
import type { Figures, Kind, Place, ProgramContestant } from "../contestant.ts";
import { ttlMs } from "./ttl.ts";

const program = "redis-benchmark";
const firstTry = 1_000;
/** Duplicates are looked for among so many keys, after so many random ones of them were marked: nearly all. */
const markedKeys = 10_000;
const marks = 60_000;

/**
 * The limit of Redis: its own benchmark, with as many commands in the pipeline of one connection as calls are in flight, and
 * the fewest commands that a delivery could do with: one that marks if there is no mark, or one that looks.
 */
export const limitRedis: ProgramContestant = {
  name: "redis/redis-benchmark",
  side: "limit",
  backend: "redis",
  mode: "seen-set",
  absence() {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
      return undefined;
    } catch {
      return `${program} is not on the PATH; it comes with redis-server (Debian: redis-tools)`;
    }
  },
  async measure(place, kind, concurrency, aboutMs) {
    const terms = { command: commands[kind], concurrency, keys: 1_000_000_000 };
    if (kind === "duplicate") {
      terms.keys = markedKeys;
      await run(place, { ...terms, command: commands.first, concurrency: 64, requests: marks });
    }
    const { perSecond } = await run(place, { ...terms, requests: Math.max(firstTry, 2 * concurrency) });
    const requests = Math.max(firstTry, Math.round((perSecond * aboutMs) / 1_000));
    return run(place, { ...terms, requests });
  },
};

const commands: Record<Kind, readonly string[]> = {
  first: ["SET", "seen:__rand_int__", "1", "PX", String(ttlMs), "NX", "GET"],
  duplicate: ["GET", "seen:__rand_int__"],
};

interface Terms {
  readonly command: readonly string[];
  readonly concurrency: number;
  /** How many different keys there are. */
  readonly keys: number;
  readonly requests: number;
}

async function run(place: Place, { command, concurrency, keys, requests }: Terms): Promise<Figures> {
  const { hostname, port } = new URL(place.address);
  const server = ["-h", hostname, "-p", port, "-c", "1", "-P", String(concurrency)];
  const load = ["-n", String(requests), "-r", String(keys), "--csv"];
  const { stdout } = await promisify(execFile)(program, [...server, ...load, ...command]);
  return readFigures(stdout);
}

/** Reads a line of names and a line of values, each in quotes. */
export function readFigures(csv: string): Figures {
  const [names = [], values = []] = csv
    .trim()
    .split("\n")
    .map((line) => line.replace(/^"|"$/g, "").split('","'));
  const figure = (name: string) => {
    const value = Number(values[names.indexOf(name)]);
    if (!Number.isFinite(value)) throw new Error(`${program} gave no ${name}: ${JSON.stringify(csv)}`);
    return value;
  };
  return { perSecond: figure("rps"), p50Ms: figure("p50_latency_ms"), p99Ms: figure("p99_latency_ms") };
}
