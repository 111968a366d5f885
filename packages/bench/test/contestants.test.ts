import { afterAll, describe, expect, it } from "vitest";
import { type RunningBackend, startBackend } from "../src/backends.ts";
import { type Backend, backends } from "../src/contestant.ts";
import { contestants } from "../src/contestants/index.ts";

const running = new Map<Backend, Promise<RunningBackend>>();
const started = (backend: Backend) => {
  const found = running.get(backend) ?? startBackend(backend);
  running.set(backend, found);
  return found;
};

afterAll(async () => {
  for (const backend of running.values()) await (await backend)[Symbol.asyncDispose]();
});

describe("nobody is measured doing nothing", { timeout: 30_000 }, () => {
  for (const contestant of contestants) {
    if ("measure" in contestant) {
      it(`${contestant.name} does its commands`, async () => {
        expect(contestant.absence()).toBeUndefined();
        const place = await (await started(contestant.backend)).clear();
        for (const kind of ["first", "duplicate"] as const) {
          const figures = await contestant.measure(place, kind, 16, 1);
          expect(figures.perSecond).toBeGreaterThan(0);
          expect(figures.p99Ms).toBeGreaterThanOrEqual(figures.p50Ms);
        }
      });
      continue;
    }
    it(`${contestant.name} has the effect once for each id`, async () => {
      const place = await (await started(contestant.backend)).clear();
      let effects = 0;
      const effect = () => {
        effects++;
      };
      if ("batchSize" in contestant) {
        const session = await contestant.open(place, effect);
        await session.deliverBatch(["a", "b", "c"]);
        expect(effects).toBe(3);
        await session.deliverBatch(["c", "b", "a"]);
        expect(effects).toBe(3);
        await session.deliverBatch(["a", "d"]);
        expect(effects).toBe(4);
        await session.close();
        return;
      }
      const session = await contestant.open(place, effect);
      await session.deliver("a");
      expect(effects).toBe(1);
      await session.deliver("a");
      expect(effects).toBe(1);
      await session.deliver("b");
      expect(effects).toBe(2);
      await session.close();
    });

    if (contestant.backend === "memory") continue;
    it(`${contestant.name} keeps its marks in ${contestant.backend}, not in the process`, async () => {
      const place = await (await started(contestant.backend)).clear();
      let effects = 0;
      const deliver = async () => {
        const effect = () => {
          effects++;
        };
        if ("batchSize" in contestant) {
          const session = await contestant.open(place, effect);
          await session.deliverBatch(["a"]);
          await session.close();
        } else {
          const session = await contestant.open(place, effect);
          await session.deliver("a");
          await session.close();
        }
      };
      await deliver();
      await deliver();
      expect(effects).toBe(1);
    });
  }

  it("every backend has a plain store to compare with, and every name is there once", () => {
    const names = contestants.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const backend of backends) {
      expect(contestants.filter(({ name }) => name === `${backend}/plain`)).toMatchObject([
        { side: "plain", backend },
      ]);
    }
  });
});
