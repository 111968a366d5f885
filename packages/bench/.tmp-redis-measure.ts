import { randomUUID } from "node:crypto";
import { startRedis } from "@bq/idempotency-test-servers";
import { ours } from "./src/contestants/ours.ts";
import { plainRedis } from "./src/contestants/plain-redis.ts";
import { drive } from "./src/drive.ts";

const server = await startRedis();
const place = { address: server.url } as never;
const names = (process.env.WHICH ?? "redis/wrap,redis/wrapClaiming").split(",");
const contestants = [plainRedis, ...ours.filter((c) => names.includes(c.name))] as any[];
const opened = [] as any[];
for (const c of contestants) opened.push([c.name, await c.open(place, () => {})]);
const out: Record<string, number[]> = {};
const rounds = Number(process.env.ROUNDS ?? 7);
const concs = (process.env.CONC ?? "1,64,256").split(",").map(Number);
for (let r = 0; r < rounds; r++)
  for (const conc of concs)
    for (const [name, s] of opened) {
      const calls = conc === 1 ? 3000 : 40000;
      const ids = Array.from({ length: calls }, () => randomUUID());
      const f = await drive((n) => s.deliver(ids[n]), {
        calls,
        concurrency: conc,
        deliveriesPerCall: 1,
        sampleEvery: 16,
      });
      const d = await drive((n) => s.deliver(ids[n]), {
        calls,
        concurrency: conc,
        deliveriesPerCall: 1,
        sampleEvery: 16,
      });
      if (r === 0) continue;
      (out[`${conc} first ${name}`] ??= []).push(f.perSecond);
      (out[`${conc} dup ${name}`] ??= []).push(d.perSecond);
    }
const med = (a: number[]) => [...a].sort((x, y) => x - y)[a.length >> 1]!;
for (const conc of concs)
  for (const kind of ["first", "dup"]) {
    const base = out[`${conc} ${kind} redis/plain`]!;
    for (const [name] of opened) {
      const mine = out[`${conc} ${kind} ${name}`]!;
      console.log(
        String(conc).padStart(4),
        kind.padEnd(6),
        name.padEnd(20),
        Math.round(med(mine)).toString().padStart(8),
        "ratio",
        med(mine.map((x, i) => x / base[i]!)).toFixed(2),
      );
    }
  }
for (const [, s] of opened) await s.close();
await server.stop();
