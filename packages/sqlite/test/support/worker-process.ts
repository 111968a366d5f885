import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Where Node keeps what it has compiled: most of a worker's time goes into its start. */
const compileCache = fileURLToPath(new URL("../../node_modules/.cache/workers", import.meta.url));

/** A process of its own that runs a file of `test/workers` and speaks in messages. */
export class WorkerProcess {
  readonly #process: ChildProcess;
  readonly #messages: unknown[] = [];
  #arrived: () => void = () => undefined;
  #exited = false;

  constructor(name: string, ...parameters: string[]) {
    const file = fileURLToPath(new URL(`../workers/${name}.ts`, import.meta.url));
    this.#process = fork(file, parameters, {
      execArgv: ["--conditions=@bq/source"],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#process.on("message", (message) => {
      this.#messages.push(message);
      this.#arrived();
    });
    this.#process.on("exit", () => {
      this.#exited = true;
      this.#arrived();
    });
    onTestFinished(() => this.kill());
  }

  send(message: string | number): void {
    this.#process.send(message);
  }

  /** The next message that was not read yet. */
  async receive<T>(): Promise<T> {
    while (this.#messages.length === 0) {
      if (this.#exited) throw new Error("The worker ended before it sent what was waited for.");
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.#messages.shift() as T;
  }

  /** Every message that came and was not read yet. */
  received<T>(): T[] {
    return this.#messages.splice(0) as T[];
  }

  /** Resolves when the process is gone, whoever ended it. */
  async ended(): Promise<void> {
    if (!this.#exited) await once(this.#process, "exit");
  }

  /** SIGKILL: no handler of the process runs any more. Resolves when it is gone and its messages are read. */
  async kill(): Promise<void> {
    const ended = this.ended();
    this.#process.kill("SIGKILL");
    await ended;
  }
}
