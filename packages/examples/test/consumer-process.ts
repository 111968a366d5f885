import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";

/** Where Node keeps what it has compiled: most of a consumer's time here goes into its start. */
const compileCache = fileURLToPath(new URL("../node_modules/.cache/consumers", import.meta.url));

/** One of the consumers, run as a process the way its supervisor would. */
export class ConsumerProcess {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown[]>;

  constructor(name: string, environment: Readonly<Record<string, string>>) {
    const file = fileURLToPath(new URL(`../src/consumers/${name}.ts`, import.meta.url));
    this.#process = spawn(process.execPath, ["--conditions=@bq/source", file], {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#exited = once(this.#process, "exit");
    // Piped, so it is there.
    const output = this.#process.stdout as NodeJS.ReadableStream;
    createInterface(output).on("line", (line) => this.lines.push(line));
    onTestFinished(() => {
      this.#process.kill("SIGKILL");
    });
  }

  static async ready(name: string, environment: Readonly<Record<string, string>>): Promise<ConsumerProcess> {
    const consumer = new ConsumerProcess(name, environment);
    await consumer.until("ready");
    return consumer;
  }

  count(line: string): number {
    return this.lines.filter((other) => other === line).length;
  }

  /** Waits until it has printed the line so many times. */
  async until(line: string, times = 1): Promise<void> {
    const exited = this.#exited.then(([code]) => {
      if (this.count(line) < times) throw new Error(`It ended with ${code} before it printed "${line}".`);
    });
    const printed = expect
      .poll(() => this.count(line), { timeout: 90_000, interval: 20 })
      .toBeGreaterThanOrEqual(times);
    await Promise.race([printed, exited.then(() => printed)]);
  }

  /** Sends the signal; resolves to the exit code, or the name of the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<unknown> {
    this.#process.kill(signal);
    const [code, endedBy] = await this.#exited;
    return code ?? endedBy;
  }
}

/** How often each order was charged, over all of these consumers. */
export function charges(...consumers: readonly ConsumerProcess[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of consumers.flatMap(({ lines }) => lines)) {
    const order = /^charged (.*)$/.exec(line)?.[1];
    if (order !== undefined) counts[order] = (counts[order] ?? 0) + 1;
  }
  return counts;
}
