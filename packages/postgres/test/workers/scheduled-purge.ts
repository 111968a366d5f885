// Has nothing left to do but a purge that is scheduled.
import postgres from "postgres";
import { PostgresStore } from "../../src/index.ts";

const [, , url = "", table = ""] = process.argv;
const sql = postgres(url, { max: 1 });
const store = new PostgresStore(sql, { table });
store.purgeEvery(600_000);
await sql.end();
process.send?.("scheduled");
process.disconnect();
