import { expect, it } from "vitest";
import { readFigures } from "../src/contestants/limit-redis.ts";

it("the figures of redis-benchmark are found by their names", () => {
  const csv = [
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"',
    '"GET seen:__rand_int__","112898.88","0.548","0.056","0.079","2.159","9.743","22.719"',
  ].join("\n");
  expect(readFigures(`${csv}\n`)).toEqual({ perSecond: 112_898.88, p50Ms: 0.079, p99Ms: 9.743 });
});

it("an answer without the figures is an error that shows it", () => {
  expect(() => readFigures("ERR unknown command")).toThrow('gave no rps: "ERR unknown command"');
});
