import { show, toStoreError } from "@bq/idempotency-core/backend";
import type Sqlite from "better-sqlite3";
import Database from "better-sqlite3";
import { driverWaitMs } from "./busy.ts";
import { Connection } from "./connection.ts";
import { migrate } from "./migrate.ts";
import type { Settings } from "./options.ts";

/** Opens the file, with the settings under which an acknowledged mark survives, and with the table in it. */
export async function openConnection(path: string, settings: Settings): Promise<Connection> {
  if (typeof path !== "string" || path.trim() === "") {
    throw new TypeError(`SqliteStore.connect: path must name a file, got ${show(path)}.`);
  }
  const connection = new Connection(openFile(path), settings, true);
  try {
    await connection.run({ name: "connect" }, () => makeDurable(connection.database));
    await migrate(connection);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function openFile(path: string): Sqlite.Database {
  try {
    return new Database(path, { timeout: driverWaitMs });
  } catch (error) {
    throw toStoreError(error, "connect");
  }
}

function makeDurable(database: Sqlite.Database): void {
  // Only where it is not on yet: the switch needs the file to itself.
  if (database.pragma("journal_mode", { simple: true }) !== "wal") database.pragma("journal_mode = WAL");
  // The driver's default under WAL is NORMAL, which may lose the last commits in a power failure.
  database.pragma("synchronous = FULL");
}
