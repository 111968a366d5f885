import type { Finding, Severity } from "@bq/idempotency-core";
import { toStoreError } from "@bq/idempotency-core/backend";
import { ask, type Client } from "./ask.ts";
import { differences, missingColumns, readShape, type Shape } from "./shape.ts";
import type { TableName } from "./table-name.ts";

/** What the server says about itself, to this role. */
interface Server {
  readonly version: number;
  readonly versionName: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly standby: boolean;
  readonly readOnly: string;
}

const describeServer = `
    SELECT $1::pg_catalog.varchar::pg_catalog.text || pg_catalog.json_build_object(
      'version', pg_catalog.current_setting('server_version_num')::pg_catalog.int4,
      'versionName', pg_catalog.current_setting('server_version'),
      'fsync', pg_catalog.current_setting('fsync'),
      'fullPageWrites', pg_catalog.current_setting('full_page_writes'),
      'synchronousCommit', pg_catalog.current_setting('synchronous_commit'),
      'standby', pg_catalog.pg_is_in_recovery(),
      'readOnly', pg_catalog.current_setting('transaction_read_only')
    )::pg_catalog.text`;

const describeRights = `
    SELECT $1::pg_catalog.varchar::pg_catalog.text || pg_catalog.string_agg(needed.right_name, ', ')
    FROM (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS needed (right_name)
    WHERE NOT pg_catalog.has_table_privilege(
      pg_catalog.to_regclass($2::pg_catalog.varchar::pg_catalog.text),
      needed.right_name
    )
    HAVING pg_catalog.count(*) > 0`;

/** The oldest server that is supported, as `server_version_num` counts. */
const oldestVersion = 130_000;

/** What an operator should mend on the server and the table; nothing when all is well. */
export async function check(client: Client, table: TableName): Promise<Finding[]> {
  try {
    const server = JSON.parse((await ask(client, describeServer, [])) ?? "{}") as Server;
    const shape = await readShape(client, table);
    const lacking = shape && (await ask(client, describeRights, [table.quoted]));
    return [
      ...ofServer(server),
      ...(shape === undefined ? [missing(table)] : ofTable(shape, table)),
      ...(lacking === undefined ? [] : [withoutRights(lacking, table)]),
    ];
  } catch (error) {
    throw toStoreError(error, "check");
  }
}

function ofServer(server: Server): Finding[] {
  const findings: Finding[] = [];
  if (server.version < oldestVersion) {
    findings.push(
      finding(
        "error",
        "server-version",
        `The server is Postgres ${server.versionName}; this store needs 13 or newer.`,
      ),
    );
  }
  if (server.standby || server.readOnly === "on") {
    findings.push(
      finding(
        "error",
        "read-only",
        "The server is a standby, or the session is read-only, so nothing can be marked: connect to the primary, read-write.",
      ),
    );
  }
  if (server.fsync === "off" || server.fullPageWrites === "off") {
    findings.push(
      finding(
        "error",
        "fsync",
        "fsync or full_page_writes is off, so a crash of the machine can lose marks or corrupt the table: turn both on.",
      ),
    );
  }
  if (server.synchronousCommit === "off") {
    findings.push(
      finding(
        "error",
        "synchronous-commit",
        "synchronous_commit is off, so a crash loses the marks of the last moments and their messages run again: turn it on for this role.",
      ),
    );
  }
  return findings;
}

function ofTable(shape: Shape, table: TableName): Finding[] {
  const wrong = differences(shape);
  if (wrong.length > 0) {
    return [
      finding(
        "error",
        "table-shape",
        `The table ${table.quoted} is not one of this store: ${wrong.join(", ")}.`,
      ),
    ];
  }
  const findings: Finding[] = [];
  const lacking = missingColumns(shape);
  if (lacking.length > 0) {
    findings.push(
      finding(
        "error",
        "table-columns",
        `The table ${table.quoted} lacks ${lacking.join(" and ")}, so operations fail: run migrate().`,
      ),
    );
  }
  if (shape.persistence === "u") {
    findings.push(
      finding(
        "error",
        "table-unlogged",
        `The table ${table.quoted} is unlogged, so a crash empties it and every message can run again: ALTER TABLE ${table.quoted} SET LOGGED.`,
      ),
    );
  }
  const collation = shape.columns.find(({ name }) => name === "message_id")?.collation;
  if (collation !== "C" && collation !== "POSIX") {
    findings.push(
      finding(
        "warning",
        "collation",
        `The ids of ${table.quoted} are sorted by the collation "${collation}", whose order may change with the operating system, and then one id can have two rows: ALTER TABLE ${table.quoted} ALTER COLUMN message_id TYPE TEXT COLLATE "C".`,
      ),
    );
  }
  return findings;
}

function withoutRights(names: string, table: TableName): Finding {
  return finding(
    "error",
    "privileges",
    `This role lacks ${names} on ${table.quoted}, so operations fail: grant SELECT, INSERT, UPDATE and DELETE.`,
  );
}

function missing(table: TableName): Finding {
  return finding(
    "error",
    "table-missing",
    `There is no table ${table.quoted} that this role can find: run migrate().`,
  );
}

function finding(severity: Severity, code: string, message: string): Finding {
  return { severity, code, message };
}
