// The worker of guarded-transaction.test.ts: nobody catches here what is thrown where nobody can catch it.
// Prints a line of JSON per scene. Usage: node guarded-scenes.ts URL
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { runGuarded } from "../src/guard/transaction.ts";
import { isFarewell } from "../src/sqlstate.ts";

export interface SceneOutcome {
  readonly scene: string;
  readonly error: string;
  readonly leftBehind: readonly string[];
  readonly poolWorks: boolean;
}

type Tx = postgres.TransactionSql;
type Write = (tx: Tx, who: string) => Promise<unknown>;

const url = process.argv[2] ?? "";
const admin = postgres(url, { max: 2, onnotice() {} });
await admin`CREATE TABLE IF NOT EXISTS guarded_scenes (scene text, who text)`;

const pidOf = async (tx: Tx): Promise<number> => {
  const [row] = await tx<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
  return row.pid;
};
const terminate = (pid: number) => admin`SELECT pg_terminate_backend(${pid})`;
const isGone = async (pid: number) =>
  (await admin`SELECT FROM pg_stat_activity WHERE pid = ${pid}`).count === 0;
const untilGone = async (pid: number) => {
  while (!(await isGone(pid))) await delay(10);
};
const untilAsleep = async (pid: number) => {
  const asleep = () => admin`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`;
  while ((await asleep()).count === 0) await delay(10);
};

const deaths: Record<string, (tx: Tx) => Promise<unknown>> = {
  "terminated while idle": async (tx) => {
    const pid = await pidOf(tx);
    await terminate(pid);
    await untilGone(pid);
  },
  "terminated while idle, and heard of": async (tx) => {
    const pid = await pidOf(tx);
    await terminate(pid);
    await untilGone(pid);
    await delay(200);
  },
  idle_in_transaction_session_timeout: async (tx) => {
    const pid = await pidOf(tx);
    await tx`SET LOCAL idle_in_transaction_session_timeout = '50ms'`;
    await untilGone(pid);
    await delay(200);
  },
  "terminated during a statement": async (tx) => {
    const pid = await pidOf(tx);
    const asleep = tx`SELECT pg_sleep(60)`.execute();
    await untilAsleep(pid);
    await terminate(pid);
    await asleep;
  },
  "terminated during a statement whose error is caught": async (tx) => {
    const pid = await pidOf(tx);
    const asleep = tx`SELECT pg_sleep(60)`.execute();
    await untilAsleep(pid);
    await terminate(pid);
    await asleep.catch(() => {});
  },
};

const writes: Record<string, (scene: string) => Write> = {
  "a plain statement": (scene) => (tx, who) => tx`INSERT INTO guarded_scenes VALUES (${scene}, ${who})`,
  "a nested query": (scene) => (tx, who) => {
    const value = tx`upper(lower(${who}))`;
    return tx`INSERT INTO guarded_scenes ${tx`SELECT ${scene}, lower(${value})`}`;
  },
  "a savepoint": (scene) => (tx, who) =>
    tx.savepoint((inner) => inner`INSERT INTO guarded_scenes ${inner({ scene, who })}`),
  "simple and unsafe": (scene) => (tx, who) =>
    tx.unsafe(`INSERT INTO guarded_scenes VALUES ('${scene.replaceAll("'", "''")}', '${who}')`),
};

/** Others use the pool all the while, so that a dead connection is opened again at once. */
function useMeanwhile(sql: postgres.Sql): () => void {
  const timer = setInterval(() => sql`SELECT 1`.catch(() => {}), 10);
  return () => clearInterval(timer);
}

/** The driver gives the server's farewell, once, to the first query of a connection that was terminated during a statement. */
async function ask(sql: postgres.Sql, n: number): Promise<number | undefined> {
  const query = () => sql<{ n: number }[]>`SELECT ${n}::int AS n`;
  const [row] = await query().catch((error: unknown) => {
    if (isFarewell(error)) return query();
    throw error;
  });
  return row?.n;
}

async function play(scene: string, max: number, write: Write, die: (tx: Tx) => Promise<unknown>) {
  const sql = postgres(url, { max, onnotice() {}, backoff: () => 0.01, connect_timeout: 10 });
  const stop = useMeanwhile(sql);
  const error = await runGuarded(sql, async (tx) => {
    await write(tx, "mark");
    await die(tx);
    await write(tx, "effect");
  }).then(
    () => "none",
    (reason: Error & { code?: string }) => `${reason.name} ${reason.code}`,
  );
  stop();
  // More than the pool holds, so that each connection is used.
  const answers = await Promise.all(Array.from({ length: 2 * max }, (_, n) => ask(sql, n)));
  const poolWorks = answers.every((answer, n) => answer === n);
  const rows = await admin<{ who: string }[]>`SELECT who FROM guarded_scenes WHERE scene = ${scene}`;
  await sql.end({ timeout: 5 });
  const outcome: SceneOutcome = { scene, error, leftBehind: rows.map(({ who }) => who), poolWorks };
  console.log(JSON.stringify(outcome));
}

const scenes: Promise<void>[] = [];
for (const [death, die] of Object.entries(deaths)) {
  for (const [kind, write] of Object.entries(writes)) {
    for (const max of [1, 2]) {
      const scene = `${death}, ${kind}, a pool of ${max}`;
      scenes.push(play(scene, max, write(scene), die));
    }
  }
}
await Promise.all(scenes);
await admin.end();
