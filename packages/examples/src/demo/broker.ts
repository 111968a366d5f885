import { join } from "node:path";
import { countMarks } from "./marks.ts";
import type { LoggedDelivery } from "./read-log.ts";
import { DeliveryRecord } from "./record.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface BrokerOptions {
  /** Where the worker keeps its marks and its ledger. */
  readonly folder: string;
  /** The worker is killed once the delivery that holds this byte of the log was handed over. */
  readonly killAtByte: number;
  /** Kill exactly between an effect and its mark, instead of wherever the worker happens to be. */
  readonly gap: boolean;
  readonly onDelivered: (delivery: LoggedDelivery) => void;
}

/** What happened, as the broker saw it and as the file of the marks tells it. */
export interface Run {
  readonly record: DeliveryRecord;
  readonly marksAtKill: number;
  readonly marksAtEnd: number;
}

/**
 * Plays a broker that delivers at least once: hands the log to a worker, kills it in the middle, starts another, brings
 * again whatever was not acknowledged and a stretch of what was, and goes on to the end. A delivery whose handler threw is
 * settled: the log itself holds its redelivery, if there was one.
 */
export async function deliverLog(log: AsyncIterable<LoggedDelivery>, options: BrokerOptions): Promise<Run> {
  const { folder, killAtByte, gap, onDelivered } = options;
  const record = new DeliveryRecord();
  const marks = join(folder, "marks.db");
  let worker = await WorkerProcess.start(folder, record);
  let marksAtKill: number | undefined;

  const killAndRestart = async () => {
    await worker.kill();
    const held = worker.unsettled;
    const acknowledged = record.recent;
    record.killed(held);
    marksAtKill = countMarks(marks);
    worker = await WorkerProcess.start(folder, record);
    for (const { delivery } of held) await worker.deliver(delivery, "unacknowledged");
    for (const delivery of acknowledged) await worker.deliver(delivery, "acknowledged");
  };

  for await (const delivery of log) {
    const mayDie = marksAtKill === undefined && delivery.endByte >= killAtByte;
    await worker.deliver(delivery, "log", mayDie && gap);
    if (mayDie && !gap) {
      // The worker is busy, and nobody knows at which step the kill meets it. In a short log it first gets to finish something.
      if (record.recent.length === 0) await worker.settleOne();
      await killAndRestart();
    } else if (mayDie && worker.ended) {
      await killAndRestart();
    }
    worker.requireAlive();
    onDelivered(delivery);
  }
  await worker.settleAll();
  // A short log can be over before the worker met its death.
  if (marksAtKill === undefined && record.before.deliveries > 0) await killAndRestart();
  await worker.settleAll();
  worker.requireAlive();
  await worker.stop();
  return { record, marksAtKill: marksAtKill ?? 0, marksAtEnd: countMarks(marks) };
}
