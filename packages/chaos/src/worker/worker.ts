// A consumer under test: a process of its own, so that it can be killed, suspended, and given a wrong clock.
import { inspect } from "node:util";
import { watchForStalls } from "../stall-watch.ts";
import { breakStore } from "./broken-store.ts";
import type { ToWorker, WorkerConfig } from "./config.ts";
import { Deliveries } from "./deliveries.ts";
import { guardHandler } from "./guarded-handler.ts";
import { HoldingPoint } from "./hold.ts";
import { loadConsumer } from "./load-consumer.ts";
import { openStore } from "./open-store.ts";
import { WorkerLog } from "./worker-log.ts";

const aliveEveryMs = 250;
const heapEveryMs = 2_000;
const exitUnhandled = 70;

const config = JSON.parse(process.argv[2] ?? "") as WorkerConfig;
const log = new WorkerLog(config.logFile);

for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => {
    log.write({ type: "unhandled", error: inspect(error) });
    process.exit(exitUnhandled);
  });
}
// The harness is gone, and nobody would end this process any more.
const leave = () => process.exit();
process.on("disconnect", leave);

watchForStalls((sinceMs) => log.write({ type: "stalled", sinceMs }));
const hold = new HoldingPoint(log);
const opened = await openStore(config.store);
const store = config.breakage === undefined ? opened : breakStore(opened, config.breakage);
const handler = guardHandler({ config, store, log, hold });
const deliveries = new Deliveries(handler, log, hold);
const consume = await loadConsumer(config.scenario.broker);
const consumer = await consume(config.broker, deliveries);

process.on("message", (message: ToWorker) => {
  if (message.do === "hold") hold.arm(message.step);
  else if (message.do === "release") hold.release();
  else void stop();
});
log.tell({ type: "ready" });
const life = setInterval(tellLife, aliveEveryMs);
const heap = setInterval(noteHeap, heapEveryMs);

/** For the harness, which waits until nothing is in flight. */
function tellLife(): void {
  process.send?.({ inFlight: deliveries.inFlight }, undefined, undefined, () => {});
}

/** What is left after a collection is what the process keeps. */
function noteHeap(): void {
  globalThis.gc?.();
  log.write({ type: "alive", inFlight: deliveries.inFlight, heapBytes: process.memoryUsage().heapUsed });
}

async function stop(): Promise<void> {
  hold.release();
  await consumer.stop();
  clearInterval(life);
  clearInterval(heap);
  await handler.close();
  // Not before everything is closed: on its own, too, the process must come to its end now.
  process.off("disconnect", leave);
  process.disconnect();
}
