import type { SingleContestant } from "../contestant.ts";

/** A bare Map: what one writes in the process, and the limit of anything there. */
export const plainMap: SingleContestant = {
  name: "memory/plain",
  side: "plain",
  backend: "memory",
  mode: "seen-set",
  async open(_place, effect) {
    const seen = new Map<string, true>();
    return {
      async deliver(id) {
        if (seen.has(id)) return;
        effect();
        seen.set(id, true);
      },
      close: async () => {},
    };
  },
};
