import { isThenable } from "./store.ts";

/**
 * What a wrapper needs of a message: a place where an id may be. The BabelQueue envelope, a BullMQ job's data and a plain
 * object fit; any other shape is read through the option `key`.
 */
export interface Message {
  /** Where the id is: in `meta.id`. */
  readonly meta?: { readonly id?: unknown } | null | undefined;
}

/** The language tag that a BabelQueue producer writes into `meta.lang`. */
export type ProducerLanguage = "php" | "go" | "python" | "java" | "dotnet" | "node";

/**
 * The BabelQueue envelope, `schema_version` 1: the message as it travels between languages.
 *
 * @see https://babelqueue.com/contracts/message-envelope.schema.json
 */
export interface Envelope<Data = Record<string, unknown>> {
  /** The message's URN, such as `urn:babel:orders:created`. Consumers also accept it as `urn`. */
  job: string;
  /** Inbound alias of `job`. */
  urn?: string;
  /** Follows a chain of messages across services. Not an identity: many messages share one. */
  trace_id: string;
  /** What the producer sends. */
  data: Data;
  /** What the producer says of the message. */
  meta: {
    /** The identity of this one message. A redelivery carries the same id. */
    id: string;
    queue: string;
    lang: ProducerLanguage;
    schema_version: 1;
    /** Milliseconds since the Unix epoch. */
    created_at: number;
  };
  /** How often the transport has tried already. */
  attempts: number;
  /** Present only on a message that lies on a dead-letter queue. */
  dead_letter?: {
    reason: "failed" | "unknown_urn" | "poison";
    error?: string | null;
    exception?: string | null;
    failed_at: number;
    original_queue: string;
    attempts: number;
    lang?: ProducerLanguage;
  };
}

/** Reads the id out of a message. A message without a usable one is never guarded: its handler runs on every delivery. */
export type ReadKey<M> = (message: M) => string | null | undefined;

/** The id of a message as one delivery found it; `error` is what reading it threw. */
export interface Identity {
  readonly id: string | undefined;
  readonly error?: unknown;
}

/** An id is usable when it is a string of at least one UTF-16 code unit. It is compared verbatim, never trimmed or folded. */
export function isUsableId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0;
}

/** `meta.id`, verbatim. */
export function readMetaId(message: unknown): unknown {
  return (message as Message | null | undefined)?.meta?.id;
}

/**
 * Reads the id once, before the handler, which may change the message. A getter or `key` that throws leaves the message
 * without an id instead of failing a delivery that nobody could ever process.
 */
export function identify<M>(message: M, key: (message: M) => unknown): Identity {
  try {
    const id = key(message);
    if (isUsableId(id)) return { id };
    return isThenable(id) ? { id: undefined, error: notAtOnce(id) } : { id: undefined };
  } catch (error) {
    return { id: undefined, error };
  }
}

/** An id that is promised comes too late; that its promise may be rejected as well must not end the process. */
function notAtOnce(promised: PromiseLike<unknown>): TypeError {
  promised.then(undefined, () => {});
  return new TypeError(
    "The id must be there at once: `key` answered with a promise, so the handler runs unguarded.",
  );
}
