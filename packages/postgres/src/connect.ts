import { show, toStoreError } from "@bq/idempotency-core/backend";
import postgres from "postgres";
import type { ConnectSettings } from "./options.ts";

/** The longest pause before a lost server is tried again, in seconds. The driver's own grows to 20. */
const longestPauseSeconds = 0.5;

/**
 * Opens a client that serves one store, and makes sure that the server answers. When the server goes away later, operations
 * fail within `connectTimeoutMs`, and work again soon after it is back.
 */
export async function connect(url: string, settings: ConnectSettings): Promise<postgres.Sql> {
  requireUrl(url);
  const sql = postgres(url, {
    max: settings.maxConnections,
    prepare: settings.prepare,
    connect_timeout: settings.connectTimeoutMs / 1_000,
    backoff: (retries) => Math.min(0.02 * 2 ** retries, longestPauseSeconds) * (0.5 + Math.random() / 2),
    // Arrays never travel, so the round trip that asks the server about array types would be for nothing.
    fetch_types: false,
    connection: { application_name: settings.applicationName },
    onnotice() {},
  });
  try {
    await sql.unsafe("SELECT 1");
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw toStoreError(error, "connect");
  }
  return sql;
}

/** Without an URL, such as that of an unset variable, the driver would connect to whatever listens on this machine. */
function requireUrl(url: unknown): void {
  if (typeof url === "string" && /^postgres(?:ql)?:\/\//.test(url)) return;
  const given = typeof url === "string" && url !== "" ? "something else" : show(url);
  throw new TypeError(
    `PostgresStore.connect needs an URL such as postgres://user:password@host:5432/database, got ${given}.`,
  );
}
