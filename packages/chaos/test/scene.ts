import type { Effect, Evidence } from "../src/judge/evidence.ts";
import { readHistory } from "../src/judge/history.ts";
import type { Mode, StoreName } from "../src/scenarios.ts";
import type { LogLine } from "../src/worker/log-line.ts";

export const leaseMs = 1_500;

type Told = Extract<LogLine, { type: "event" }>["event"];

/** A delivery, made by hand: when each thing happened. What is left out did not happen. */
export interface Scripted {
  readonly worker: string;
  readonly delivery: number;
  readonly asking: number;
  readonly handling?: number;
  readonly effect?: number;
  readonly returned?: number;
  readonly threw?: readonly [atMs: number, code: string];
  readonly events?: readonly (readonly [atMs: number, event: Told])[];
}

/** Evidence of one message `m`, made by hand. */
export function scene(
  of: { readonly mode: Mode; readonly store?: StoreName } & Partial<
    Omit<Evidence, "scenario" | "workers">
  > & {
      readonly deliveries: readonly Scripted[];
      readonly further?: readonly (LogLine & { worker: string })[];
    },
): Evidence {
  const { mode, store = "redis", deliveries, further = [], ...rest } = of;
  const names = [
    ...new Set([...deliveries.map(({ worker }) => worker), ...further.map(({ worker }) => worker)]),
  ];
  const workers = names.map((name) => {
    const own = deliveries.filter(({ worker }) => worker === name).flatMap(linesOf);
    const lines = [...own, ...further.filter(({ worker }) => worker === name)];
    return readHistory(name, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  return {
    scenario: { broker: "bullmq", store, mode },
    leaseMs,
    sent: ["m"],
    effects: effectsOf(deliveries),
    workers,
    ends: names.map((name) => ({ name, how: "stopped", atMs: 100_000 })),
    faults: [],
    disorder: [],
    ...rest,
  };
}

export function effectsOf(deliveries: readonly Scripted[]): Effect[] {
  return deliveries.flatMap(({ worker, delivery, handling, effect }) =>
    effect === undefined ? [] : [{ id: "m", worker, delivery, startedAtMs: handling ?? effect }],
  );
}

function linesOf({ delivery, asking, handling, effect, returned, threw, events = [] }: Scripted): LogLine[] {
  const at = <T extends LogLine["type"]>(type: T, atMs: number | undefined, more: object = {}) =>
    atMs === undefined ? [] : [{ type, atMs, delivery, ...more } as unknown as LogLine];
  return [
    ...at("received", asking, { id: "m" }),
    ...at("asking", asking),
    ...at("handling", handling),
    ...at("effect", effect),
    ...events.flatMap(([atMs, event]) => at("event", atMs, { event })),
    ...at("returned", returned),
    ...at("threw", threw?.[0], { code: threw?.[1], error: threw?.[1] }),
  ];
}

/** A delivery that ran through: asked, handled, had its effect and returned with its mark. */
export function ran(worker: string, delivery: number, asking: number, returned: number): Scripted {
  const handling = asking + 10;
  return {
    worker,
    delivery,
    asking,
    handling,
    effect: handling + 10,
    returned,
    events: [[handling + 15, "ran"]],
  };
}

/** A delivery whose worker was killed after its effect. */
export function cutShort(worker: string, delivery: number, asking: number): Scripted {
  return { worker, delivery, asking, handling: asking + 10, effect: asking + 20 };
}

export function killOf(worker: string, atMs: number): Pick<Evidence, "faults" | "ends"> {
  return {
    faults: [{ kind: "kill", worker, step: "between-effect-and-mark", fromMs: atMs, untilMs: atMs + 5 }],
    ends: [{ name: worker, how: "killed", atMs: atMs + 5 }],
  };
}
