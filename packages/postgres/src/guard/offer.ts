import type postgres from "postgres";
import { isFarewell } from "../sqlstate.ts";
import { type DriverConnection, whichConnection } from "./driver.ts";

/** How often the pool is asked again when the driver did not tell which connection it took. */
const offerAttempts = 100;

/**
 * Has the pool pick a connection, and offers it to be taken at once.
 *
 * The driver may send a statement without telling on which connection, so BEGIN must not be what asks for one. What asks is an
 * empty statement; a BEGIN that the taker executes goes out right behind it, in the same packet. On a connection that is not
 * `alone`, statements of others are still under way before it.
 */
export async function offerConnection(
  sql: postgres.Sql,
  take: (connection: DriverConnection, alone: boolean) => void,
): Promise<void> {
  for (let attempt = 0; attempt < offerAttempts; attempt++) {
    let offered: "free" | "reserved" | undefined;
    try {
      await whichConnection(sql, "", (connection, alone) => {
        offered = connection.reserved ? "reserved" : "free";
        if (offered === "free") take(connection, alone);
      });
    } catch (error) {
      if (offered !== undefined || !isFarewell(error)) throw error;
    }
    if (offered === "free") return;
    if (offered === "reserved")
      throw new TypeError("a reserved connection cannot be used, pass the client it was taken from");
  }
  throw new Error(
    "the driver did not tell which connection it took, use postgres.js 3.4 with max_pipeline above 0",
  );
}
