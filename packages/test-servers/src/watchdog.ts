import { type ChildProcess, fork } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type {
  NumberedRequest,
  ProgramStart,
  ServerStart,
  SystemUser,
  WatchdogAnswer,
  WatchdogRequest,
} from "./watchdog-messages.ts";

/** A server on a slow and busy machine still gets ready in this time. */
const LIMIT_MS = 60_000;

/**
 * The watchdog of this process. Whatever could be left behind, folders and servers, is made by it and not by us: when this
 * process is gone, even by SIGKILL, the watchdog sees the channel end and clears up.
 */
class Watchdog {
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, (answer: WatchdogAnswer) => void> = new Map();
  #number = 0;

  constructor() {
    this.#child = fork(fileURLToPath(new URL("./watchdog-process.ts", import.meta.url)), {
      cwd: tmpdir(),
      // A session of its own: a Ctrl-C in the terminal must reach the tests, and not the one who clears up after them.
      detached: true,
      execArgv: [],
      // Inheriting our output would keep a pipe open that somebody reads to its end.
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#child.on("message", (answer: WatchdogAnswer) => this.#waiting.get(answer.number)?.(answer));
    this.#child.on("error", (error) => this.#fail(error.message));
    this.#child.on("exit", (code, signal) => this.#fail(signal ?? `exit code ${code}`));
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async makeFolder(name: string, owner?: SystemUser): Promise<string> {
    return String(await this.#ask({ do: "make-folder", name, owner }));
  }

  async removeFolder(folder: string): Promise<void> {
    await this.#ask({ do: "remove-folder", folder });
  }

  /** Runs a program to its end and resolves to its output; rejects unless it ends with exit code 0. */
  async run(start: ProgramStart): Promise<string> {
    return String(await this.#ask({ do: "run", start, limitMs: LIMIT_MS }));
  }

  /** Starts a server and resolves to its pid when it is ready. */
  async start(start: ServerStart): Promise<number> {
    return Number(await this.#ask({ do: "start", start, limitMs: LIMIT_MS }));
  }

  async signal(pid: number, signal: NodeJS.Signals): Promise<void> {
    await this.#ask({ do: "signal", pid, signal });
  }

  /** Resolves when the process is gone. */
  async end(pid: number, signal: NodeJS.Signals): Promise<void> {
    await this.#ask({ do: "end", pid, signal });
  }

  #ask(request: WatchdogRequest): Promise<string | number | undefined> {
    this.#number += 1;
    const message: NumberedRequest = { number: this.#number, request };
    return new Promise((resolve, reject) => {
      // Only an open request keeps this process alive; a server that runs does not.
      this.#child.channel?.ref();
      this.#waiting.set(message.number, (answer) => {
        this.#waiting.delete(message.number);
        if (this.#waiting.size === 0) this.#child.channel?.unref();
        if ("error" in answer) reject(new Error(answer.error));
        else resolve(answer.value);
      });
      this.#child.send(message, (error) => error && this.#fail(error.message));
    });
  }

  #fail(reason: string): void {
    current = undefined;
    for (const [number, settle] of this.#waiting) {
      settle({ number, error: `The watchdog of the test servers is gone: ${reason}` });
    }
  }
}

let current: Watchdog | undefined;

export function watchdog(): Watchdog {
  current ??= new Watchdog();
  return current;
}
