export { faketime } from "./faketime.ts";
export { type PgBouncerOptions, type PgBouncerServer, startPgBouncer } from "./pgbouncer.ts";
export { type PostgresOptions, type PostgresServer, startPostgres } from "./postgres.ts";
export { type Proxy, startProxy } from "./proxy.ts";
export type { ProxyTarget } from "./proxy-connection.ts";
export { type RabbitMqServer, startRabbitMq } from "./rabbitmq.ts";
export { type RedisOptions, type RedisServer, startRedis } from "./redis.ts";
export { type RedisCluster, type RedisClusterOptions, startRedisCluster } from "./redis-cluster.ts";
export { type RedisReplicaSet, startRedisReplicaSet } from "./redis-replica.ts";
export {
  type PostgresForTests,
  postgresForTests,
  type RedisForTests,
  redisForTests,
} from "./servers-for-tests.ts";
