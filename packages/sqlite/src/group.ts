import type Sqlite from "better-sqlite3";

/** One act failed in such a way that SQLite rolled back the whole group, which can be performed again without it. */
export class Spoiled {
  readonly place: number;
  readonly error: unknown;

  constructor(place: number, error: unknown) {
    this.place = place;
    this.error = error;
  }
}

/**
 * Performs the acts in their order in one transaction, so that the disk is waited for once. An act that throws fails alone:
 * SQLite takes back the statement that failed, and nothing else.
 *
 * @returns the errors of those that failed, by their places; everything else is on the disk
 * @throws {Spoiled} when one of them took the others with it; nothing of the group has happened
 * @throws what BEGIN or COMMIT failed with; nothing of the group has happened
 */
export function performGroup(
  database: Sqlite.Database,
  acts: readonly (() => void)[],
): ReadonlyMap<number, unknown> {
  const failures = new Map<number, unknown>();
  // All locks come first: no act meets one later, and a read at the beginning cannot bar the writes after it.
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const [place, act] of acts.entries()) {
      try {
        act();
      } catch (error) {
        if (!database.inTransaction) throw new Spoiled(place, error);
        failures.set(place, error);
      }
    }
    database.exec("COMMIT");
    return failures;
  } catch (error) {
    if (database.open && database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
