import {
  type RedisCluster,
  type RedisForTests,
  redisForTests,
  startRedisCluster,
} from "@bq/idempotency-test-servers";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** A server that all test files share: with prefixes of their own and without flushing it. */
    redisUrl: string;
    /** The masters of a cluster that all test files share in the same way. */
    clusterNodes: { host: string; port: number }[];
  }
}

let server: RedisForTests | undefined;
let cluster: RedisCluster | undefined;

export async function setup(project: TestProject): Promise<void> {
  [server, cluster] = await Promise.all([redisForTests(), startRedisCluster()]);
  project.provide("redisUrl", server.url);
  project.provide("clusterNodes", cluster.nodes);
}

export async function teardown(): Promise<void> {
  await Promise.all([server?.stop(), cluster?.stop()]);
}
