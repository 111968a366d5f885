import type { TestProject } from "vitest/node";
import { type RedisForTests, redisForTests } from "./servers-for-tests.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A Redis server that all test files of the package share: a prefix per test, and no flushing. */
    redisUrl: string;
  }
}

let server: RedisForTests | undefined;

/** Global set-up of vitest: one Redis server for the whole run of a package; a test gets its URL by `inject("redisUrl")`. */
export async function setup(project: TestProject): Promise<void> {
  server = await redisForTests();
  project.provide("redisUrl", server.url);
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
