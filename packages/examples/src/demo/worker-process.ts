import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { LoggedDelivery } from "./read-log.ts";

/** How many deliveries a worker may hold unacknowledged: the broker's prefetch. */
export const prefetch = 16;

/** Why a delivery is handed over: it is the log's next, or the broker brings it again after the restart. */
export type Origin = "log" | "unacknowledged" | "acknowledged";

/** A delivery that was handed to a worker. */
export interface Sent {
  readonly delivery: LoggedDelivery;
  readonly origin: Origin;
}

type Settled = Extract<FromWorker, { type: "settled" }>;

/** Is told of every hand-over and of every answer. */
export interface DeliveryListener {
  sent(sent: Sent): void;
  settled(sent: Sent, answer: Settled): void;
}

const running = new Set<ChildProcess>();

/** Ends every worker at once: the broker itself is about to end. */
export function endWorkers(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** The broker's side of one worker: what it was sent and has not settled yet. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #listener: DeliveryListener;
  readonly #unsettled = new Map<number, Sent>();
  readonly #changes = new EventEmitter();
  #nextTag = 1;
  #ended = false;
  #killed = false;

  private constructor(child: ChildProcess, listener: DeliveryListener) {
    this.#child = child;
    this.#listener = listener;
    child.on("message", (message: FromWorker) => this.#receive(message));
    running.add(child);
    child.on("close", () => {
      running.delete(child);
      this.#ended = true;
      this.#changes.emit("change");
    });
    // A worker that was killed takes no more messages; that is told by its end.
    child.on("error", () => {});
  }

  /** Starts a worker on `folder`; resolves when it is ready to take deliveries. */
  static async start(folder: string, listener: DeliveryListener): Promise<WorkerProcess> {
    const child = fork(fileURLToPath(new URL("./worker.ts", import.meta.url)), [folder], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const worker = new WorkerProcess(child, listener);
    await Promise.race([once(child, "message"), once(worker.#changes, "change")]);
    worker.requireAlive();
    return worker;
  }

  /** The worker process is gone. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Throws if the worker is gone although nobody ended it. */
  requireAlive(): void {
    if (!this.#ended) return;
    const { exitCode, signalCode } = this.#child;
    throw new Error(`The worker ended by itself (${signalCode ?? `exit code ${exitCode}`}).`);
  }

  /** Deliveries that were sent and not settled, in order. */
  get unsettled(): Sent[] {
    return [...this.#unsettled.values()];
  }

  /** Hands a delivery over and waits until the worker may hold another, or is gone. */
  async deliver(delivery: LoggedDelivery, origin: Origin, dieAfterEffect = false): Promise<void> {
    const tag = this.#nextTag++;
    const sent = { delivery, origin };
    this.#unsettled.set(tag, sent);
    this.#listener.sent(sent);
    const { line, text } = delivery;
    this.#send({ type: "deliver", tag, line, text, dieAfterEffect });
    await this.#until(() => this.#unsettled.size < prefetch);
  }

  /** Waits until the worker settles one more delivery, if it holds any. */
  async settleOne(): Promise<void> {
    const { size } = this.#unsettled;
    if (size > 0) await this.#until(() => this.#unsettled.size < size);
  }

  async settleAll(): Promise<void> {
    await this.#until(() => this.#unsettled.size === 0);
  }

  /**
   * Ends the process without a warning, whatever it is doing, and waits until it is gone. Acknowledgements that are still on
   * their way are lost, as they are when a consumer's connection breaks.
   */
  async kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill("SIGKILL");
    await this.#until(() => this.#ended);
  }

  /** Lets the worker close its store and end. */
  async stop(): Promise<void> {
    this.#send({ type: "stop" });
    await this.#until(() => this.#ended);
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#ended) await once(this.#changes, "change");
  }

  #send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromWorker): void {
    if (message.type !== "settled" || this.#killed) return;
    const sent = this.#unsettled.get(message.tag);
    if (sent === undefined) return;
    this.#unsettled.delete(message.tag);
    this.#listener.settled(sent, message);
    this.#changes.emit("change");
  }
}
