import { AsyncLocalStorage } from "node:async_hooks";
import { expect, it } from "vitest";
import { GroupCommit, type GroupTerms } from "../src/backend.ts";

/** A backend whose statements end when they are told to. */
function backend(terms: Partial<GroupTerms<string, string>> = {}) {
  const statements: { calls: readonly string[]; end: (error?: unknown) => void }[] = [];
  const group = new GroupCommit<string, string>({
    operation: "seen",
    perform: (calls) =>
      new Promise((resolve, reject) => {
        const end = (error?: unknown) =>
          error === undefined ? resolve(calls.map((call) => `did ${call}`)) : reject(error);
        statements.push({ calls, end });
      }),
    ...terms,
  });
  return { group, statements, sent: () => statements.map(({ calls }) => calls.join(",")) };
}

const turn = () => new Promise(setImmediate);

it("a call that finds nothing under way is sent at once and alone", () => {
  const { group, sent } = backend();
  void group.submit("a");
  expect(sent()).toEqual(["a"]);
});

it("calls that arrive while a statement is under way join the next one, and each has its own answer", async () => {
  const { group, statements, sent } = backend();
  const answers = Promise.all(["a", "b", "c", "d"].map((call) => group.submit(call)));
  expect(sent()).toEqual(["a"]);
  statements[0]?.end();
  await turn();
  expect(sent()).toEqual(["a", "b,c,d"]);
  statements[1]?.end();
  expect(await answers).toEqual(["did a", "did b", "did c", "did d"]);
});

it("the callers that a statement answered join the next one, when they call again at once", async () => {
  const { group, statements, sent } = backend();
  const worker = async (name: string) => {
    await group.submit(`${name}1`);
    // What a wrapper does between its calls takes a few steps, but no time.
    for (let step = 0; step < 20; step++) await undefined;
    await group.submit(`${name}2`);
  };
  for (const name of ["a", "b", "c"]) void worker(name);
  for (let n = 0; n < 2; n++) {
    statements[n]?.end();
    await turn();
  }
  expect(sent()).toEqual(["a1", "b1,c1,a2", "b2,c2"]);
});

it("with gathers, those that come in one turn of the event loop share the first statement", async () => {
  const { group, sent } = backend({ gathers: true });
  const answered = Promise.resolve();
  for (const call of ["a", "b", "c"]) void answered.then(() => group.submit(call));
  void answered.then(() => undefined).then(() => group.submit("d"));
  await turn();
  expect(sent()).toEqual(["a,b,c,d"]);
});

it("a statement takes at most maxCalls, and the oldest go first", async () => {
  const { group, statements, sent } = backend({ maxCalls: 2 });
  for (const call of ["a", "b", "c", "d"]) void group.submit(call);
  for (let n = 0; n < 3; n++) {
    statements[n]?.end();
    await turn();
  }
  expect(sent()).toEqual(["a", "b,c", "d"]);
});

it("maxUnderWay statements may run side by side", async () => {
  const { group, sent } = backend({ maxUnderWay: 2 });
  for (const call of ["a", "b", "c"]) void group.submit(call);
  await turn();
  expect(sent()).toEqual(["a", "b"]);
});

it("calls that come together are spread over the statements that may be under way, at least minShare in each", async () => {
  const { group, statements, sent } = backend({ gathers: true, maxUnderWay: 2, minShare: 2 });
  const submit = (calls: string) => {
    for (const call of calls) void group.submit(call);
  };
  submit("abcdefg");
  await turn();
  expect(sent()).toEqual(["a,b,c,d", "e,f,g"]);
  submit("hij");
  statements[0]?.end();
  await turn();
  expect(sent().slice(2)).toEqual(["h,i,j"]);
  for (const { end } of statements) end();
  await turn();
  submit("kl");
  await turn();
  expect(sent().slice(3)).toEqual(["k,l"]);
});

it("minShare is asked for whenever a statement is made up, where it is a function", async () => {
  let minShare = 4;
  const { group, statements, sent } = backend({ gathers: true, maxUnderWay: 2, minShare: () => minShare });
  for (const call of "abcd") void group.submit(call);
  await turn();
  statements[0]?.end();
  await turn();
  minShare = 2;
  for (const call of "abcd") void group.submit(call);
  await turn();
  expect(sent()).toEqual(["a,b,c,d", "a,b", "c,d"]);
});

it("what may stand only once in a statement goes into the next one, in its order", async () => {
  const { group, statements, sent } = backend({ uniqueBy: (call) => call[0] ?? "" });
  for (const call of ["x", "a1", "a2", "b1", "a3"]) void group.submit(call);
  for (let n = 0; n < 4; n++) {
    statements[n]?.end();
    await turn();
  }
  expect(sent()).toEqual(["x", "a1,b1", "a2", "a3"]);
});

it("one bad call does not fail its neighbours", async () => {
  const group = new GroupCommit<string, string>({
    operation: "seen",
    perform: async (calls) => {
      await turn();
      if (calls.includes("bad")) throw new Error("cannot do bad");
      return calls.map((call) => `did ${call}`);
    },
    separateAfter: () => true,
  });
  const outcomes = await Promise.allSettled(["a", "b", "bad", "c"].map((call) => group.submit(call)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect(outcomes[2]).toMatchObject({
    reason: { code: "BQ_STORE_FAILED", cause: new Error("cannot do bad") },
  });
});

it("a failure that concerns them all fails each, without another statement", async () => {
  const { group, statements, sent } = backend({ separateAfter: (error) => error !== "connection lost" });
  const outcomes = Promise.allSettled(["a", "b", "c"].map((call) => group.submit(call)));
  statements[0]?.end();
  await turn();
  statements[1]?.end("connection lost");
  expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(sent()).toEqual(["a", "b,c"]);
});

it("a slow statement holds up nobody for longer than patienceMs", async () => {
  const { group, statements, sent } = backend({ patienceMs: 10 });
  const slow = group.submit("slow");
  const next = group.submit("next");
  while (sent().length < 2) await turn();
  statements[1]?.end();
  expect(await next).toBe("did next");
  // The slow one is back: there is one place again, not two.
  statements[0]?.end();
  await slow;
  await turn();
  for (const call of ["a", "b"]) void group.submit(call);
  expect(sent()).toEqual(["slow", "next", "a"]);
});

it("too few answers fail the calls instead of leaving some without", async () => {
  const group = new GroupCommit<string, string>({ operation: "seen", perform: () => [] });
  await expect(group.submit("a")).rejects.toThrow("0 answers came for 1 calls of seen");
});

it("a statement that throws at once fails its call, and the next one is sent", async () => {
  let broken = true;
  const group = new GroupCommit<string, string>({
    operation: "seen",
    perform: (calls) => {
      if (broken) throw new Error("closed");
      return calls;
    },
  });
  await expect(group.submit("a")).rejects.toThrow("closed");
  broken = false;
  expect(await group.submit("b")).toBe("b");
});

it("each caller keeps its async context, and no caller's context reaches the statement of another", async () => {
  const context = new AsyncLocalStorage<string>();
  const inStatements: unknown[] = [];
  const group = new GroupCommit<string, string>({
    operation: "seen",
    perform: async (calls) => {
      inStatements.push(context.getStore());
      await turn();
      return calls;
    },
  });
  const call = (name: string) =>
    context.run(name, async () => {
      await group.submit(name);
      return context.getStore();
    });
  expect(await Promise.all(["a", "b", "c"].map(call))).toEqual(["a", "b", "c"]);
  expect(inStatements).toEqual([undefined, undefined]);
});
