import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { nowMs } from "../clock.ts";
import type { WorkerEnd } from "../judge/evidence.ts";
import type { Step } from "../plan/steps.ts";
import type { ToWorker, WorkerConfig } from "../worker/config.ts";
import type { LogLine } from "../worker/log-line.ts";

const program = fileURLToPath(new URL("../worker/worker.ts", import.meta.url));
/** A worker finishes what is in flight in less than this, in milliseconds; one that takes longer hangs. */
const stopLimitMs = 15_000;

const running = new Set<ChildProcess>();

/** Ends every worker at once: the harness itself is about to end. */
export function endWorkers(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** A worker, as the harness sees it: something to kill, to suspend, and to hold at a step. */
export class WorkerProcess {
  readonly name: string;
  readonly pid: number | undefined;
  /** Resolves when it takes deliveries, or is gone. */
  readonly ready: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  inFlight = 0;
  readonly #child: ChildProcess;
  #how: WorkerEnd["how"] = "crashed";
  #gone = false;
  #onHeld: (() => void) | undefined;

  constructor(config: WorkerConfig, env: Readonly<Record<string, string>>) {
    const errors = `${config.logFile}.stderr`;
    const stderr = openSync(errors, "a");
    this.name = config.name;
    this.#child = spawn(
      process.execPath,
      [...process.execArgv, "--expose-gc", program, JSON.stringify(config)],
      {
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", stderr, "ipc"],
        // A group of its own: a Ctrl-C is for the harness, which ends the workers itself.
        detached: true,
      },
    );
    closeSync(stderr);
    this.pid = this.#child.pid;
    running.add(this.#child);
    this.ended = new Promise((resolve) => {
      this.#child.once("exit", () => {
        this.#gone = true;
        running.delete(this.#child);
        const lastWords = this.#how === "crashed" ? lastLines(errors) : undefined;
        resolve({ name: this.name, how: this.#how, atMs: nowMs(), lastWords });
      });
    });
    this.ready = this.#listen();
    this.#child.on("message", ({ inFlight }: { inFlight: number }) => {
      this.inFlight = inFlight;
    });
    // A worker that was killed takes no more messages; that is told by its end.
    this.#child.on("error", () => {});
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** Has the next delivery that comes to the step wait there; `false` when none came in time, or the worker is gone. */
  async hold(step: Step, limitMs: number): Promise<boolean> {
    const held = new Promise<boolean>((resolve) => {
      this.#onHeld = () => resolve(true);
    });
    this.#send({ do: "hold", step });
    const reached = await Promise.race([held, this.ended.then(() => false), pause(limitMs, false)]);
    this.#onHeld = undefined;
    if (!reached) this.release();
    return reached && !this.#gone;
  }

  release(): void {
    this.#send({ do: "release" });
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    if (!this.#gone && this.#how === "crashed") this.#how = "killed";
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  /**
   * SIGSTOP, and SIGCONT after this many milliseconds, if it was not killed meanwhile. A shell does that: it is also done when
   * the harness is gone by then, and the worker, awake, sees that it is to end.
   */
  async suspend(forMs: number): Promise<void> {
    const script = `kill -STOP ${this.pid}; sleep ${forMs / 1_000}; kill -CONT ${this.pid}`;
    await once(spawn("sh", ["-c", script], { stdio: "ignore", detached: true }), "exit");
  }

  /** Lets it finish what is in flight and end; one that does not is killed, and counts as hung. */
  async stop(): Promise<void> {
    if (this.#gone) return;
    this.#how = "stopped";
    this.#send({ do: "stop" });
    const ended = await Promise.race([this.ended, pause(stopLimitMs)]);
    if (ended !== undefined) return;
    this.#how = "hung";
    await this.kill();
  }

  #listen(): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("A worker tells the harness on its standard output.");
    return new Promise((resolve) => {
      createInterface({ input: stdout }).on("line", (text) => {
        const { type } = JSON.parse(text) as LogLine;
        if (type === "ready") resolve();
        else if (type === "held") this.#onHeld?.();
      });
      void this.ended.then(() => resolve());
    });
  }

  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}

function lastLines(file: string): string {
  return readFileSync(file, "utf8").trim().slice(-1_000);
}
