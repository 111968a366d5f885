import type { LogLine, Settlement } from "../worker/log-line.ts";

/** What the library told about a delivery, and when. */
export interface ToldEvent {
  readonly atMs: number;
  readonly event: string;
  readonly error?: string | undefined;
}

/** One hand-over of a message to a worker, as its log tells it. */
export interface Delivery {
  readonly worker: string;
  readonly number: number;
  readonly id: string;
  readonly receivedAtMs: number;
  askingAtMs?: number;
  /** When the handler began; the last time, if a transaction was repeated. */
  handlingAtMs?: number;
  effectAtMs?: number;
  returnedAtMs?: number;
  threw?: { readonly atMs: number; readonly code: string; readonly error: string };
  settled?: Settlement;
  heldAt?: string;
  readonly events: ToldEvent[];
}

export interface Stall {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** One worker process, as its log tells it. */
export interface WorkerHistory {
  readonly name: string;
  readonly deliveries: ReadonlyMap<number, Delivery>;
  readonly stalls: readonly Stall[];
  readonly heap: readonly { readonly atMs: number; readonly bytes: number }[];
  readonly unhandled: readonly string[];
}

/** Reads the log of one worker. A line that a kill cut short is the last, and is left out. */
export function readHistory(name: string, text: string): WorkerHistory {
  const deliveries = new Map<number, Delivery>();
  const stalls: Stall[] = [];
  const heap: { atMs: number; bytes: number }[] = [];
  const unhandled: string[] = [];
  for (const line of parseLines(text)) {
    if (line.type === "stalled") stalls.push({ fromMs: line.sinceMs, untilMs: line.atMs });
    else if (line.type === "alive") heap.push({ atMs: line.atMs, bytes: line.heapBytes });
    else if (line.type === "unhandled") unhandled.push(line.error);
    else if (line.type === "received")
      deliveries.set(line.delivery, {
        worker: name,
        number: line.delivery,
        id: line.id,
        receivedAtMs: line.atMs,
        events: [],
      });
    else if (line.type !== "ready") note(deliveries.get(line.delivery), line);
  }
  return { name, deliveries, stalls, heap, unhandled };
}

type DeliveryLine = Exclude<Extract<LogLine, { delivery: number }>, { type: "received" }>;

function note(delivery: Delivery | undefined, line: DeliveryLine): void {
  if (delivery === undefined) return;
  const { atMs } = line;
  switch (line.type) {
    case "asking":
      delivery.askingAtMs = atMs;
      break;
    case "handling":
      delivery.handlingAtMs = atMs;
      break;
    case "effect":
      delivery.effectAtMs = atMs;
      break;
    case "event":
      delivery.events.push({ atMs, event: line.event, error: line.error });
      break;
    case "returned":
      delivery.returnedAtMs = atMs;
      break;
    case "threw":
      delivery.threw = { atMs, code: line.code, error: line.error };
      break;
    case "settled":
      delivery.settled = line.how;
      break;
    case "held":
      delivery.heldAt = line.step;
      break;
  }
}

function parseLines(text: string): LogLine[] {
  const lines = text.split("\n");
  lines.pop();
  return lines.map((line) => JSON.parse(line) as LogLine);
}
