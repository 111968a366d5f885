import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StoreAddress } from "../worker/config.ts";

const program = fileURLToPath(new URL("../purger.ts", import.meta.url));

/** The purge that runs beside the workload, in a process of its own. */
export class PurgerProcess implements AsyncDisposable {
  readonly #child: ChildProcess | undefined;
  /** How many expired rows it has deleted. */
  purged = 0;

  /** Does nothing for a store that has nothing to purge. */
  constructor(address: StoreAddress) {
    if (address.kind !== "postgres" && address.kind !== "sqlite") return;
    this.#child = fork(program, [JSON.stringify(address)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      detached: true,
    });
    this.#child.on("message", ({ purged }: { purged: number }) => {
      this.purged = purged;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
