import type { Connection } from "./connection.ts";
import { missing } from "./schema.ts";

/** Creates or completes the table. Takes the write lock only where something is missing, and may run in many processes at once. */
export async function migrate(connection: Connection): Promise<void> {
  const { database, settings } = connection;
  await connection.run({ name: "migrate" }, () => {
    if (missing(database, settings).length === 0) return;
    database.exec("BEGIN IMMEDIATE");
    try {
      // Again, now that nobody else can change it.
      for (const statement of missing(database, settings)) database.exec(statement);
      database.exec("COMMIT");
    } catch (error) {
      if (database.inTransaction) database.exec("ROLLBACK");
      throw error;
    }
  });
}
