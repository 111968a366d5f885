import { randomUUID } from "node:crypto";
import {
  type Proxy as FaultyNetwork,
  type RedisCluster,
  type RedisOptions,
  type RedisServer,
  startProxy,
  startRedis,
  startRedisCluster,
} from "@bq/idempotency-test-servers";
import { Redis } from "ioredis";
import { inject, onTestFinished, vi } from "vitest";

// Real servers on a busy machine: a limit that only a hang reaches.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The URL of a server that all files use: with prefixes of their own and without flushing it. */
export const sharedUrl: string = inject("redisUrl");

/** The nodes of a cluster that all files use in the same way. */
export const sharedNodes: { host: string; port: number }[] = inject("clusterNodes");

/** The URL of one node of the shared cluster. */
export function nodeUrl(node: { host: string; port: number } | undefined = sharedNodes[0]): string {
  return `redis://${node?.host}:${node?.port}`;
}

/** A cluster of one test's own, to break. */
export async function ownCluster(): Promise<RedisCluster> {
  const cluster = await startRedisCluster();
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** A server of one test's own, to flush, stop or kill. */
export async function ownRedis(options?: RedisOptions): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

/** A faulty network of one test's own, in front of a server. */
export async function ownProxy(url: string): Promise<FaultyNetwork & { url: string }> {
  const { hostname, port } = new URL(url);
  const proxy = await startProxy({ host: hostname, port: Number(port) });
  onTestFinished(() => proxy.stop());
  return Object.assign(proxy, { url: `redis://${proxy.host}:${proxy.port}` });
}

/** A plain client of one test's own, to look at what the store wrote. */
export function plainClient(url: string): Redis {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
}

/** A key prefix that no other test has. */
export function freshPrefix(): string {
  return `${randomUUID()}:`;
}
