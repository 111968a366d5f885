export type Backend = "memory" | "sqlite" | "redis" | "postgres";

/** Ours; what one writes by hand; what one would install instead; what the backend itself can do at most. */
export type Side = "ours" | "plain" | "peer" | "limit";

/** What a contestant promises: to skip what was done; to let one worker in at a time as well; one of these for many at once. */
export type Mode = "seen-set" | "claims" | "transaction" | "batch";

/** A first delivery of its id, or one of an id that was delivered before. */
export type Kind = "first" | "duplicate";

export const backends: readonly Backend[] = ["memory", "sqlite", "redis", "postgres"];
export const kinds: readonly Kind[] = ["first", "duplicate"];

/** Where a contestant keeps its marks. Nobody else is there, and nothing was there before. */
export interface Place {
  /** The URL of the server, the path of a file that does not exist yet, or nothing in memory. */
  readonly address: string;
}

/** The effect of a first delivery. It only counts, so that what is measured is everything around it. */
export type Effect = () => void;

interface Described {
  /** The backend and a name of its own, such as `redis/wrap`. */
  readonly name: string;
  readonly side: Side;
  readonly backend: Backend;
  readonly mode: Mode;
}

/** Takes one delivery per call, as a consumer makes them. */
export interface SingleContestant extends Described {
  open(place: Place, effect: Effect): Promise<Session>;
}

export interface Session {
  /** One delivery, awaited before the next one of the same worker. */
  deliver(id: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Takes a batch of deliveries per call. */
export interface BatchContestant extends Described {
  readonly batchSize: number;
  open(place: Place, effect: Effect): Promise<BatchSession>;
}

export interface BatchSession {
  deliverBatch(ids: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** A program that measures by itself. */
export interface ProgramContestant extends Described {
  /** Why it cannot take part on this machine, or `undefined`. */
  absence(): string | undefined;
  measure(place: Place, kind: Kind, concurrency: number, aboutMs: number): Promise<Figures>;
}

export type Contestant = SingleContestant | BatchContestant | ProgramContestant;

/** What one measurement came to. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
