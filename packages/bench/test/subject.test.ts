import { expect, it } from "vitest";
import type { SingleContestant } from "../src/contestant.ts";
import { plainMap } from "../src/contestants/plain-map.ts";
import { Subject } from "../src/subject.ts";

const place = { address: "" };
const deliveries = { deliveries: 50 };

function broken(deliver: (effect: () => void) => void): SingleContestant {
  return {
    ...plainMap,
    name: "memory/broken",
    open: async (_place, effect) => ({ deliver: async () => deliver(effect), close: async () => {} }),
  };
}

it("a contestant that keeps its promise is measured for both kinds", async () => {
  const subject = await Subject.open(plainMap, place);
  const { first, duplicate } = await subject.measure(4, deliveries);
  expect(first.perSecond).toBeGreaterThan(0);
  expect(duplicate.perSecond).toBeGreaterThan(0);
});

it("a contestant that skips a first delivery is not measured", async () => {
  const subject = await Subject.open(
    broken(() => {}),
    place,
  );
  await expect(subject.measure(1, deliveries)).rejects.toThrow("memory/broken had 0 effects instead of 16");
});

it("a contestant that runs a duplicate is not measured", async () => {
  const subject = await Subject.open(
    broken((effect) => effect()),
    place,
  );
  await expect(subject.measure(1, deliveries)).rejects.toThrow("effects instead of 0");
});

it("a measurement by time goes on for about that time", async () => {
  const aboutMs = 100;
  let calls = 0;
  const slow: SingleContestant = {
    ...plainMap,
    async open(at, effect) {
      const session = await plainMap.open(at, effect);
      const deliver = async (id: string) => {
        calls++;
        await new Promise((passed) => setTimeout(passed, 2));
        return session.deliver(id);
      };
      return { ...session, deliver };
    },
  };
  const subject = await Subject.open(slow, place);
  const startedAt = performance.now();
  await subject.measure(4, { aboutMs });
  const tookMs = performance.now() - startedAt;
  expect(calls).toBeGreaterThan(0);
  expect(tookMs).toBeGreaterThan(aboutMs);
});
