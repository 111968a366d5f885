import type { TestProject } from "vitest/node";
import { type PostgresForTests, postgresForTests } from "./servers-for-tests.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** An empty database that all test files of the package share: a table or schema per test. */
    postgresUrl: string;
  }
}

let server: PostgresForTests | undefined;

/** Global set-up of vitest: one Postgres server for the whole run of a package; a test gets the URL of a database of the run by `inject("postgresUrl")`. */
export async function setup(project: TestProject): Promise<void> {
  server = await postgresForTests();
  project.provide("postgresUrl", await server.createDatabase());
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
