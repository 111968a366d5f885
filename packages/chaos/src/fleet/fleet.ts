import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerEnd } from "../judge/evidence.ts";
import { readHistory, type WorkerHistory } from "../judge/history.ts";
import type { WorkerConfig } from "../worker/config.ts";
import { WorkerProcess } from "./worker-process.ts";

/** What all workers of a scenario are started with, and what each has of its own. */
export interface FleetTerms {
  readonly config: Omit<WorkerConfig, "name" | "logFile">;
  /** Where the workers write their logs. */
  readonly folder: string;
  /** The environment of the worker at each place. */
  readonly environments: readonly Readonly<Record<string, string>>[];
}

/** The workers of a scenario. One that was killed is replaced, at its place, by a new process with a name of its own. */
export class Fleet {
  readonly #terms: FleetTerms;
  readonly #all: WorkerProcess[] = [];
  readonly #current: WorkerProcess[] = [];

  constructor(terms: FleetTerms) {
    this.#terms = terms;
  }

  /** Starts a worker at every place; resolves when all take deliveries. */
  async start(): Promise<void> {
    await Promise.all(this.#terms.environments.map((_, place) => this.replace(place)));
  }

  /** Starts a new worker at this place; resolves when it takes deliveries. */
  async replace(place: number): Promise<void> {
    const { config, folder, environments } = this.#terms;
    const name = `w${place + 1}.${this.#all.filter((worker) => placeOf(worker) === place).length + 1}`;
    const logFile = join(folder, `${name}.jsonl`);
    const worker = new WorkerProcess({ ...config, name, logFile }, environments[place] ?? {});
    this.#all.push(worker);
    this.#current[place] = worker;
    await worker.ready;
  }

  at(place: number): WorkerProcess | undefined {
    return this.#current[place];
  }

  /** Deliveries that the workers hold. */
  get inFlight(): number {
    return this.#all.filter(({ gone }) => !gone).reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Lets all end in good order. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.stop()));
  }

  /** Ends all at once. */
  async kill(): Promise<void> {
    await Promise.all(this.#all.filter(({ gone }) => !gone).map((worker) => worker.kill()));
  }

  /** How each process ended; waits for those that have not. */
  ends(): Promise<WorkerEnd[]> {
    return Promise.all(this.#all.map(({ ended }) => ended));
  }

  get pids(): number[] {
    return this.#all.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  histories(): WorkerHistory[] {
    return this.#all.map(({ name }) => {
      const file = join(this.#terms.folder, `${name}.jsonl`);
      return readHistory(name, readFileSync(file, { encoding: "utf8", flag: "a+" }));
    });
  }
}

function placeOf({ name }: WorkerProcess): number {
  return Number.parseInt(name.slice(1), 10) - 1;
}
