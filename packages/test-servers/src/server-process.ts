import { watchdog } from "./watchdog.ts";
import type { ServerStart } from "./watchdog-messages.ts";

/** A server with its folder. It can be stopped, killed, restarted and paused, and leaves nothing behind. */
export class ServerProcess {
  readonly #start: ServerStart;
  #pid: number | undefined;

  private constructor(start: ServerStart) {
    this.#start = start;
  }

  /** Starts the server in its folder; removes the folder if it does not start. */
  static async start(start: ServerStart): Promise<ServerProcess> {
    const server = new ServerProcess(start);
    try {
      await server.restart();
    } catch (error) {
      await watchdog().removeFolder(start.folder);
      throw error;
    }
    return server;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  get folder(): string {
    return this.#start.folder;
  }

  /** Ends the server in good order, if it runs, and removes its folder. */
  async stop(): Promise<void> {
    await this.#end(this.#start.endSignal);
    await watchdog().removeFolder(this.#start.folder);
  }

  /** SIGKILL for the server and its children. The folder stays. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends the server in good order, if it runs, and starts it again in the same folder. */
  async restart(): Promise<void> {
    await this.#end(this.#start.endSignal);
    this.#pid = await watchdog().start(this.#start);
  }

  /** Freezes the server: connections stay open, nothing is answered. */
  async pause(): Promise<void> {
    if (this.#pid !== undefined) await watchdog().signal(this.#pid, "SIGSTOP");
  }

  async resume(): Promise<void> {
    if (this.#pid !== undefined) await watchdog().signal(this.#pid, "SIGCONT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const pid = this.#pid;
    this.#pid = undefined;
    if (pid !== undefined) await watchdog().end(pid, signal);
  }
}
