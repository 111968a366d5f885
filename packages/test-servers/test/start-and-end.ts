// A process of its own that starts servers, uses them, and then ends in the way that its argument names.
import postgres from "postgres";
import { startPgBouncer, startPostgres, startRedis } from "../src/index.ts";

const [way] = process.argv.slice(2);

if (way === "killed-while-starting") {
  process.stdout.write("ready\n");
  for (;;) await Promise.all([startRedis(), startPostgres()]);
}

const [redis, server] = await Promise.all([startRedis({ persistent: true }), startPostgres()]);
await startPgBouncer(server.url);
// A backend that only computes does not notice by itself that its server is gone.
const busy = postgres(server.url, { max: 1 });
await busy`SELECT 1`;
busy`SELECT count(*) FROM generate_series(1, 1e12)`.catch(() => {});

if (way === "killed-with-paused-servers") await Promise.all([redis.pause(), server.pause()]);
// Something that keeps the process alive until it is ended.
setInterval(() => {}, 1_000);
process.stdout.write("ready\n");

if (way === "throws") setImmediate(() => throwLate());
if (way === "rejects") void Promise.reject(new Error("A failure that nobody handles"));
if (way === "exits") process.exit(3);

function throwLate(): never {
  throw new Error("A failure that nobody catches");
}
