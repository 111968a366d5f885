// The consumer: a process of its own, so that it can be killed. It takes deliveries one after another, as a consumer with
// concurrency 1 does, and settles each when the wrapped handler is done.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type IdempotencyEvent, wrap } from "@bq/idempotency-core";
import { SqliteStore } from "@bq/idempotency-sqlite";
import { handlerFor, type LoggedMessage } from "./handler.ts";
import { Ledger } from "./ledger.ts";
import type { FromWorker, Outcome, ToWorker } from "./protocol.ts";

const [folder = "."] = process.argv.slice(2);
const store = await SqliteStore.connect(join(folder, "marks.db"));
const ledger = new Ledger(join(folder, "ledger.jsonl"));
const handle = handlerFor(ledger);

let outcome: Outcome = "failed";
let problem: string | undefined;
let dieAfterEffect = false;

function observe(event: IdempotencyEvent): void {
  switch (event.type) {
    case "ran":
    case "skipped":
    case "unidentified":
    case "failed":
      outcome = event.type;
      break;
    case "store-failed":
    case "mark-failed":
      problem = event.error.message;
      break;
  }
}

const consume = wrap(
  store,
  (message: LoggedMessage, line: number) => {
    handle(message, line);
    if (dieAfterEffect && message.meta?.id) die();
  },
  { observe },
);

async function deliver(delivery: Extract<ToWorker, { type: "deliver" }>): Promise<void> {
  outcome = "failed";
  problem = undefined;
  dieAfterEffect = delivery.dieAfterEffect;
  try {
    await consume(JSON.parse(delivery.text) as LoggedMessage, delivery.line);
  } catch {
    // The observer has told it. The log itself holds the redelivery, if there was one.
  }
  tell({ type: "settled", tag: delivery.tag, outcome, problem });
}

function tell(message: FromWorker): void {
  // Without a parent there is nobody to tell, and the worker is about to end.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
  // Nothing may happen between the call and the end of the process.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

let queue: Promise<void> = Promise.resolve();
process.on("message", (message: ToWorker) => {
  queue = queue.then(() => (message.type === "stop" ? stop() : deliver(message)));
});

async function stop(): Promise<void> {
  process.off("disconnect", abandon);
  await store.close();
  ledger.close();
  process.disconnect();
}

/** The parent is gone and cannot clean up any more. */
function abandon(): void {
  rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}
process.on("disconnect", abandon);
// Ctrl-C reaches every process of the terminal; the parent decides when this one ends.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});

tell({ type: "ready" });
