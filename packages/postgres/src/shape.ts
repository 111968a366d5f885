import { StoreError } from "@bq/idempotency-core/backend";
import { ask, type Client } from "./ask.ts";
import type { TableName } from "./table-name.ts";

/** A table as the catalogue describes it. */
export interface Shape {
  /** `r` for a table, `p` for a partitioned one, `v` for a view, and so on. */
  readonly kind: string;
  /** `p` for permanent, `u` for unlogged, `t` for temporary. */
  readonly persistence: string;
  readonly columns: readonly Column[];
  /** Is `message_id` alone under a unique index, so that one id can have one row only? */
  readonly uniqueId: boolean;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly hasDefault: boolean;
  /** `null` for a type that has none. */
  readonly collation: string | null;
  /** Are texts equal only when their bytes are? */
  readonly deterministic: boolean;
}

/** A column as the store needs it. */
const needed = [
  { name: "message_id", type: "text", nullable: false },
  { name: "created_at", type: "timestamp with time zone", nullable: false },
  { name: "expires_at", type: "timestamp with time zone", nullable: true },
  { name: "claim_token", type: "text", nullable: true },
  { name: "claimed_until", type: "timestamp with time zone", nullable: true },
] as const;

/** The columns that a table of the Go store lacks. */
export const addedColumns = {
  claim_token: "pg_catalog.text NULL",
  claimed_until: "pg_catalog.timestamptz NULL",
} as const;

const describeTable = `
    SELECT $1::pg_catalog.varchar::pg_catalog.text || pg_catalog.json_build_object(
      'kind', rel.relkind,
      'persistence', rel.relpersistence,
      'columns', (
        SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', attribute.attname,
          'type', pg_catalog.format_type(attribute.atttypid, attribute.atttypmod),
          'required', attribute.attnotnull,
          'hasDefault', attribute.atthasdef OR attribute.attidentity <> '' OR attribute.attgenerated <> '',
          'collation', coll.collname,
          'deterministic', COALESCE(coll.collisdeterministic, TRUE)
        ))
        FROM pg_catalog.pg_attribute AS attribute
        LEFT JOIN pg_catalog.pg_collation AS coll
          ON coll.oid = attribute.attcollation
        WHERE attribute.attrelid = rel.oid
          AND attribute.attnum > 0
          AND NOT attribute.attisdropped
      ),
      'uniqueId', EXISTS (
        SELECT
        FROM pg_catalog.pg_index AS index
        JOIN pg_catalog.pg_attribute AS attribute
          ON attribute.attrelid = index.indrelid
          AND attribute.attnum = index.indkey[0]
        WHERE index.indrelid = rel.oid
          AND attribute.attname = 'message_id'
          AND index.indnkeyatts = 1
          AND index.indisunique
          AND index.indimmediate
          AND index.indisvalid
          AND index.indpred IS NULL
      )
    )::pg_catalog.text
    FROM pg_catalog.pg_class AS rel
    WHERE rel.oid = pg_catalog.to_regclass($2::pg_catalog.varchar::pg_catalog.text)`;

/** Reads the catalogue, which every role may; `undefined` when there is no such table. */
export async function readShape(client: Client, table: TableName): Promise<Shape | undefined> {
  const shape = await ask(client, describeTable, [table.quoted]);
  return shape === undefined ? undefined : (JSON.parse(shape) as Shape);
}

/** The columns that can be added to make the table fit. */
export function missingColumns(shape: Shape): (keyof typeof addedColumns)[] {
  const present = new Set(shape.columns.map(({ name }) => name));
  return (Object.keys(addedColumns) as (keyof typeof addedColumns)[]).filter((name) => !present.has(name));
}

/** What keeps the table from being one of ours and cannot be mended by adding to it; each a clause of a sentence. */
export function differences(shape: Shape): string[] {
  if (shape.kind !== "r" && shape.kind !== "p") return ["it is no table"];
  const found = new Map(shape.columns.map((column) => [column.name, column]));
  const names = new Set<string>(needed.map(({ name }) => name));
  const wrong: string[] = [];
  for (const { name, type, nullable } of needed) {
    const column = found.get(name);
    if (column === undefined) {
      if (!(name in addedColumns)) wrong.push(`it has no column ${name}`);
    } else if (column.type !== type) {
      wrong.push(`its column ${name} is of type ${column.type} instead of ${type}`);
    } else if (nullable && column.required) {
      wrong.push(`its column ${name} is NOT NULL`);
    }
  }
  if (found.get("message_id")?.deterministic === false) {
    wrong.push("the collation of its column message_id takes different ids for one");
  }
  for (const { name, required, hasDefault } of shape.columns) {
    if (!names.has(name) && required && !hasDefault) {
      wrong.push(`its column ${name}, which the store does not know, is NOT NULL and has no default`);
    }
  }
  if (found.has("message_id") && !shape.uniqueId) wrong.push("message_id is not its primary key");
  return wrong;
}

/** @throws {StoreError} with the code `BQ_STORE_SCHEMA` and every difference, when the table is of another shape */
export function requireShape(shape: Shape, table: TableName): void {
  const wrong = differences(shape);
  if (wrong.length === 0) return;
  throw new StoreError(
    `The table ${table.quoted} is not one of this store: ${wrong.join(", ")}. Nothing was changed. Choose another name with the option table, or mend the table.`,
    { operation: "migrate", code: "BQ_STORE_SCHEMA" },
  );
}
