import { describe, expect, it } from "vitest";
import { ExampleProject, examplesIn } from "./readme-project.ts";

const order = "interface Order { id: string; orderId: string; total: number }";

/** What the examples of a README leave to its reader, as declarations. */
const leftToReader: Record<string, string> = {
  postgres: `
    ${order}
    declare const store: import("@bq/idempotency-postgres").PostgresStore;
    declare const sql: import("postgres").Sql;
    declare const message: import("@bq/idempotency-core").Envelope<Order>;
    declare const orders: import("drizzle-orm/pg-core").PgTableWithColumns<any>;`,
  redis: `
    ${order}
    declare const RedisStore: typeof import("@bq/idempotency-redis").RedisStore;
    declare function charge(order: Order): Promise<void>;`,
  sqlite: `
    ${order}
    declare function charge(order: Order): Promise<void>;
    declare const store: import("@bq/idempotency-sqlite").SqliteStore;
    declare const database: import("better-sqlite3").Database;
    declare const id: string;
    declare const sku: string;`,
};

describe.each(Object.entries(leftToReader))("the examples in the README of %s", (name, declarations) => {
  const examples = examplesIn(`packages/${name}/README.md`);

  it("are there", () => {
    expect(examples.length).toBeGreaterThan(2);
  });

  it.each(examples.map((example) => ({ example, first: example.split("\n")[0] })))(
    "are typed: $first",
    ({ example }) => {
      // Each is a module, so that its names are its own.
      const project = new ExampleProject(`${example}\nexport {};\n`, declarations);
      expect(project.typecheck()).toBe("");
    },
    60_000,
  );
});
