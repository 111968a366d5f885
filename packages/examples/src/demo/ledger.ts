import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * Where the handler's effects are counted: a file of its own, which the library knows nothing about. An entry is with the
 * operating system once `enter` returns, so it outlives the process.
 */
export class Ledger {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  enter(id: unknown): void {
    // The line break comes first, so that an entry cut short by a kill cannot spoil the one behind it.
    writeSync(this.#file, `\n${JSON.stringify(isIdentity(id) ? { id } : {})}`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** What the ledger says in the end. */
export interface Effects {
  /** id → how many effects its message had. */
  readonly byId: ReadonlyMap<string, number>;
  /** Effects of messages without a usable id. */
  readonly unidentified: number;
}

/** Counts the entries. One that was cut short is no effect. */
export async function readLedger(path: string): Promise<Effects> {
  const byId = new Map<string, number>();
  let unidentified = 0;
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    const entry = parseEntry(line);
    if (entry === undefined) continue;
    if (entry.id === undefined) unidentified++;
    else byId.set(entry.id, (byId.get(entry.id) ?? 0) + 1);
  }
  return { byId, unidentified };
}

function parseEntry(line: string): { id?: string } | undefined {
  try {
    return JSON.parse(line) as { id?: string };
  } catch {
    return undefined;
  }
}

/** A message can be told apart from the others by a string that is not empty, and by nothing else. */
export function isIdentity(id: unknown): id is string {
  return typeof id === "string" && id !== "";
}
