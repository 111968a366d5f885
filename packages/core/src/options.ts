import { describeError } from "./errors.ts";
import { type ObserveEvents, type Observer, observer } from "./events.ts";
import { type ReadKey, readMetaId } from "./message.ts";
import { isThenable } from "./store.ts";
import { TimeLimits } from "./time-limits.ts";

/** The longest delay that a timer of JavaScript takes, in milliseconds: with a longer one it fires at once. */
export const maxTimerMs = 2_147_483_647;

/** A century, in milliseconds: the longest TTL. A mark that is to live longer is one that never expires. */
export const maxTtlMs = 3_155_760_000_000;

/** What every wrapper understands. `M` is the handler's message. */
export interface WrapOptions<M = unknown> {
  /**
   * Reads the id from a message that does not carry it as `meta.id`. Anything but a non-empty string means: no usable id,
   * so the handler runs unguarded.
   */
  key?: ReadKey<M> | undefined;
  /** Is told what became of each delivery. Nothing it throws changes the outcome. */
  observe?: ObserveEvents | undefined;
  /** The longest that one call of the store may take, in milliseconds. Default 5 000. */
  storeTimeoutMs?: number | undefined;
  /**
   * What to do when the store cannot say whether the id was processed: `"throw"` (default) fails the delivery, so that the
   * broker brings it again; `"run"` runs the handler unguarded.
   */
  onStoreFailure?: "throw" | "run" | undefined;
  /** How often writing the mark is tried after the handler succeeded, with short growing pauses. Default 3. */
  markAttempts?: number | undefined;
  /**
   * What to do when the mark could not be written: `"ack"` (default) lets the delivery succeed, for the effect happened;
   * `"throw"` fails it, so that a redelivery runs the handler again.
   */
  onMarkFailure?: "ack" | "throw" | undefined;
}

/** The options of a wrapper, read once: what it works with. */
export interface Settings<M> {
  readonly key: (message: M) => unknown;
  readonly events: Observer;
  readonly storeTimeoutMs: number;
  readonly onStoreFailure: "throw" | "run";
  readonly markAttempts: number;
  readonly onMarkFailure: "ack" | "throw";
  /** Of the store calls that are under way, which keep the process alive: the deliveries that wait for them are not done. */
  readonly limits: TimeLimits;
}

/** The names of `WrapOptions`; a wrapper with further options adds its own. */
export const wrapOptionNames = [
  "key",
  "observe",
  "storeTimeoutMs",
  "onStoreFailure",
  "markAttempts",
  "onMarkFailure",
] as const;

/** Reads and validates the options that every wrapper has. */
export function readWrapOptions<M>(options: OptionReader): Settings<M> {
  return Object.freeze({
    key: options.callback<(message: M) => unknown>("key") ?? readMetaId,
    events: observer(options.callback<ObserveEvents>("observe"), options.owner),
    storeTimeoutMs:
      options.integer("storeTimeoutMs", { min: 1, max: maxTimerMs, unit: "milliseconds" }) ?? 5_000,
    onStoreFailure: options.oneOf("onStoreFailure", ["throw", "run"]) ?? "throw",
    markAttempts: options.integer("markAttempts", { min: 1, max: 100 }) ?? 3,
    onMarkFailure: options.oneOf("onMarkFailure", ["ack", "throw"]) ?? "ack",
    limits: new TimeLimits(),
  });
}

/**
 * Reads an options object once and says what is wrong with it: `TypeError` for an unknown option or a wrong type,
 * `RangeError` for a number out of range, each with the option's name and the value.
 */
export class OptionReader {
  /** Who has these options, as messages name it. */
  readonly owner: string;
  readonly #values = new Map<string, unknown>();

  constructor(owner: string, options: unknown, known: readonly string[]) {
    this.owner = owner;
    if (options === undefined) return;
    for (const name of namesIn(options, owner)) {
      if (!known.includes(name)) {
        throw new TypeError(
          `${owner}: unknown option ${JSON.stringify(name)}. Known options: ${known.join(", ")}.`,
        );
      }
      const value = readOption(options as object, name, owner);
      if (value !== undefined) this.#values.set(name, value);
    }
  }

  /** A whole number from `min` to `max`, or `undefined` when it was not given. */
  integer(name: string, range: { min: number; max: number; unit?: string }): number | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    requireInteger(`${this.owner}: ${name}`, value, range);
    return value;
  }

  /** A number of milliseconds that a mark lives, or `undefined`: for ever. */
  ttlMs(): number | undefined {
    return this.integer("ttlMs", {
      min: 1,
      max: maxTtlMs,
      unit: "milliseconds; leave it out for marks that never expire",
    });
  }

  /** One of the words in `choices`. */
  oneOf<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) {
      const allowed = choices.map((candidate) => JSON.stringify(candidate)).join(" or ");
      throw new TypeError(`${this.owner}: ${name} must be ${allowed}, got ${show(value)}.`);
    }
    return choice;
  }

  /**
   * A function.
   *
   * @typeParam Fn what the caller takes it for: parameters and answer are not checked
   */
  callback<Fn extends (...args: never[]) => unknown>(name: string): Fn | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "function") {
      throw new TypeError(`${this.owner}: ${name} must be a function, got ${show(value)}.`);
    }
    return value as Fn;
  }

  /** A string, the empty one included. */
  text(name: string): string | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string")
      throw new TypeError(`${this.owner}: ${name} must be a string, got ${show(value)}.`);
    return value;
  }

  /** `true` or `false`. */
  flag(name: string): boolean | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "boolean")
      throw new TypeError(`${this.owner}: ${name} must be true or false, got ${show(value)}.`);
    return value;
  }
}

/** The names of the options that were given; a promise of options has none, and would pass for the defaults. */
function namesIn(options: unknown, owner: string): string[] {
  try {
    if (typeof options === "object" && options !== null && !Array.isArray(options) && !isThenable(options)) {
      return Object.keys(options);
    }
  } catch (cause) {
    throw new TypeError(`${owner}: the options cannot be read: ${describeError(cause)}.`, { cause });
  }
  throw new TypeError(`${owner}: options must be an object, got ${show(options)}.`);
}

function readOption(options: object, name: string, owner: string): unknown {
  try {
    return (options as Record<string, unknown>)[name];
  } catch (cause) {
    throw new TypeError(`${owner}: ${name} cannot be read: ${describeError(cause)}.`, { cause });
  }
}

/** Throws unless `value` is a whole number in the range; `what` names it in the message. */
export function requireInteger(
  what: string,
  value: unknown,
  range: { min: number; max: number; unit?: string },
): asserts value is number {
  const rule = `must be a whole number from ${range.min} to ${range.max}${range.unit ? ` (${range.unit})` : ""}`;
  if (typeof value !== "number") throw new TypeError(`${what} ${rule}, got ${show(value)}.`);
  if (!Number.isInteger(value) || value < range.min || value > range.max) {
    throw new RangeError(`${what} ${rule}, got ${show(value)}.`);
  }
}

/** Is this a time that one could wait, in milliseconds? */
export function isDelay(ms: unknown): ms is number {
  return typeof ms === "number" && Number.isFinite(ms) && ms >= 0;
}

/** A value as it may stand in an error message. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return isArray(value) ? "an array" : "an object";
  return String(value);
}

/** A proxy that was revoked throws when it is asked what it is. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
