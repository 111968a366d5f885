import Database from "better-sqlite3";

/** Counts the marks in a store's file, past the library: what is on the disk is what a restarted worker will find. */
export function countMarks(path: string): number {
  const database = new Database(path, { readonly: true });
  try {
    return database
      .prepare<[number], number>(
        `SELECT count(*)
           FROM babelqueue_idempotency
          WHERE expires_at IS NULL
             OR expires_at > ?`,
      )
      .pluck()
      .get(Date.now()) as number;
  } finally {
    database.close();
  }
}
