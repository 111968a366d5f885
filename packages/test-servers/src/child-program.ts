import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { sendSignal, signalTree } from "./process-tree.ts";
import type { ProgramStart } from "./watchdog-messages.ts";

/** How long a server may take to end in good order before it is killed. */
const ORDERLY_END_MS = 5_000;
const LAST_WORDS_MS = 1_000;
/** How much of the output is kept for an error message. */
const KEPT_OUTPUT = 8_000;

/** A program that the watchdog started, with the last part of its output. */
export class ChildProgram {
  readonly exited: Promise<string>;
  readonly #start: ProgramStart;
  readonly #endSignal: NodeJS.Signals;
  readonly #child: ChildProcess;
  readonly #listeners: Set<() => void> = new Set();
  #output = "";
  #ended = false;

  constructor(start: ProgramStart, endSignal: NodeJS.Signals = "SIGKILL") {
    this.#start = start;
    this.#endSignal = endSignal;
    this.#child = spawn(start.program, start.args, {
      cwd: start.folder,
      env: { ...process.env, ...start.env },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, out of reach of a Ctrl-C in the terminal: the watchdog ends it in good order.
      detached: true,
      ...start.user,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-KEPT_OUTPUT);
        for (const listener of this.#listeners) listener();
      });
    }
    this.exited = new Promise((resolve) => {
      this.#child.on("error", (error) => resolve(error.message));
      this.#child.on("exit", (code, signal) => {
        this.#ended = true;
        const how = signal ?? `exit code ${code}`;
        // Its last words may still be on their way, and they say why. A child of it that lives on would keep us waiting.
        const enough = setTimeout(resolve, LAST_WORDS_MS, how);
        this.#child.on("close", () => {
          clearTimeout(enough);
          resolve(how);
        });
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when the output matches; rejects when the program ends before, or after the limit. */
  async says(pattern: RegExp, limitMs: number): Promise<void> {
    const heard = new Promise<true>((resolve) => {
      const listener = () => pattern.test(this.#output) && resolve(true);
      this.#listeners.add(listener);
    });
    const result = await this.#within(limitMs, Promise.race([heard, this.exited]));
    this.#listeners.clear();
    if (result !== true) throw this.#failure(`ended before it was ready (${result})`);
  }

  /** Resolves to the output when the program has ended with exit code 0; rejects otherwise. */
  async succeeds(limitMs: number): Promise<string> {
    const result = await this.#within(limitMs, this.exited);
    if (result !== "exit code 0") throw this.#failure(`failed (${result})`);
    return this.#output;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#ended || this.pid === undefined) return;
    const { container, program } = this.#start;
    if (container === undefined) signalTree(this.pid, signal);
    else spawnSync(program, ["kill", "--signal", signal, container], { stdio: "ignore" });
  }

  /** Ends the program and waits until it is gone: by the signal given, and by SIGKILL if that does not help in time. */
  async end(signal: NodeJS.Signals = this.#endSignal): Promise<void> {
    if (signal !== "SIGKILL") await this.#endInOrder(signal);
    this.signal("SIGKILL");
    await this.exited;
  }

  async #endInOrder(signal: NodeJS.Signals): Promise<void> {
    // Paused processes hear nothing else.
    this.signal("SIGCONT");
    this.#signalRoot(signal);
    const abort = new AbortController();
    const late = delay(ORDERLY_END_MS, undefined, { signal: abort.signal }).catch(() => {});
    await Promise.race([this.exited, late]);
    abort.abort();
  }

  /** An orderly end is the business of the main process: it takes its children down itself. */
  #signalRoot(signal: NodeJS.Signals): void {
    if (this.#ended) return;
    if (this.#start.container !== undefined) this.signal(signal);
    else if (this.pid !== undefined) sendSignal(this.pid, signal);
  }

  async #within<T>(limitMs: number, result: Promise<T>): Promise<T> {
    const abort = new AbortController();
    const limit = delay(limitMs, undefined, { signal: abort.signal }).then(() => {
      throw this.#failure(`was not done after ${limitMs} ms`);
    });
    try {
      return await Promise.race([result, limit]);
    } finally {
      abort.abort();
      limit.catch(() => {});
    }
  }

  #failure(what: string): Error {
    const command = [this.#start.program, ...this.#start.args].join(" ");
    return new Error(`${command} ${what}. Its output:\n${this.#output.trim() || "(none)"}`);
  }
}
