import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InMemoryStore, wrap } from "@bq/idempotency-core";
import { describe, expect, it } from "vitest";
import { manifestCases, runManifest, type Wrapper } from "../src/index.ts";

const own = new URL("../manifest.json", import.meta.url);
const published = new URL("../../../shared/babelqueue-conformance/manifest.json", import.meta.url);

const open = () => new InMemoryStore();
const folder = fileURLToPath(new URL("..", import.meta.url));

/** A manifest with one sequence. */
function manifestOf(deliveries: object[], expected_effects: number) {
  return {
    idempotency: {
      dedup_key: {
        envelope_file: "fixtures/invoice-sent.json",
        key_field: "meta.id",
        expected_key: "c0ffee11-6b1d-4f3a-a2c4-90d17e5b8a42",
      },
      sequences: { cases: [{ name: "one", deliveries, expected_effects }] },
    },
  };
}

const run = (meta_id: string) => ({ meta_id, expect_effect: "run", outcome: "ok" });
const skip = (meta_id: string) => ({ meta_id, expect_effect: "skip" });
const fail = (meta_id: string) => ({ meta_id, expect_effect: "run", outcome: "throw" });

describe("a manifest", () => {
  it("of this package passes on the in-memory store", async () => {
    await runManifest(own, open);
  });

  it.runIf(existsSync(published))("as BabelQueue publishes it passes on the in-memory store", async () => {
    await runManifest(published, open);
    expect(manifestCases(published)).toHaveLength(7);
  });

  it("names its cases, the key first", () => {
    const ids = manifestCases(own).map(({ id }) => id);
    expect(ids[0]).toBe("manifest/dedup_key");
    expect(ids).toContain("manifest/a-redelivery-is-skipped");
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("gets a store of its own for each sequence, and closes it", async () => {
    let opened = 0;
    let closed = 0;
    await runManifest(own, () => Object.assign(open(), { [`n${opened++}`]: 1, close: () => void closed++ }));
    expect(opened).toBe(manifestCases(own).length);
    expect(closed).toBe(opened);
  });

  it.for<[string, object, RegExp]>([
    [
      "a delivery that runs but was to be skipped",
      manifestOf([skip("a")], 0),
      /delivery 1 of 1.*handler invocations/s,
    ],
    [
      "a delivery that is skipped but was to run",
      manifestOf([run("a"), run("a")], 2),
      /delivery 2 of 2.*handler invocations/s,
    ],
    ["another number of effects in all", manifestOf([fail("a"), run("a")], 1), /handler invocations in all/],
  ])("fails for %s", async ([, manifest, message]) => {
    await expect(runManifest(manifest, open, { folder })).rejects.toThrow(message);
  });

  it("fails for an envelope with another key", async () => {
    const manifest = manifestOf([run("a")], 1);
    manifest.idempotency.dedup_key.expected_key = "another";
    await expect(runManifest(manifest, open, { folder })).rejects.toThrow(
      /dedup_key: meta.id of the envelope/,
    );
  });

  it("may name another field as the key", async () => {
    const manifest = manifestOf([run("a")], 1);
    Object.assign(manifest.idempotency.dedup_key, { key_field: "data.invoice", expected_key: "2024-0071" });
    await runManifest(manifest, open, { folder });
  });
});

describe("a manifest catches a wrapper that", () => {
  const mutants: [string, string, Wrapper][] = [
    [
      "marks before the handler succeeded",
      "a-failure-leaves-no-mark",
      (store, handler) => async (message) => {
        const id = String(message.meta?.id ?? "");
        if (id === "") return handler(message);
        if (await store.seen(id)) return;
        await store.remember(id);
        return handler(message);
      },
    ],
    [
      "swallows what the handler throws",
      "a-failure-leaves-no-mark",
      (store, handler) => async (message) => wrap(store, handler)(message).catch(() => {}),
    ],
    ["never marks", "a-redelivery-is-skipped", (_, handler) => async (message) => handler(message)],
    [
      "takes the trace for the key",
      "dedup_key",
      (store, handler) =>
        wrap(store, handler, { key: (message) => (message as { trace_id?: string }).trace_id }),
    ],
    [
      "trims ids",
      "ids-that-differ-in-white-space-are-different",
      (store, handler) =>
        wrap(store, handler, { key: (message) => (message.meta?.id as string | undefined)?.trim() }),
    ],
    [
      "folds case",
      "ids-that-differ-in-case-are-different",
      (store, handler) =>
        wrap(store, handler, { key: (message) => (message.meta?.id as string | undefined)?.toLowerCase() }),
    ],
    [
      "skips what it cannot identify",
      "without-an-id-every-delivery-runs",
      (store, handler) => async (message) => (message.meta?.id ? wrap(store, handler)(message) : undefined),
    ],
    [
      "takes a missing id for the word undefined",
      "without-an-id-every-delivery-runs",
      (store, handler) => wrap(store, handler, { key: (message) => String(message.meta?.id) }),
    ],
    [
      "runs a message a second time when it failed",
      "a-failure-leaves-no-mark",
      (store, handler) => (message) =>
        wrap(store, (again: typeof message) => Promise.resolve(handler(again)).catch(() => handler(again)))(
          message,
        ),
    ],
    [
      "forgets the others when it forgets one",
      "forgetting-one-message-spares-the-others",
      (store, handler) => {
        const seen = new Set<string>();
        const forget = store.forget.bind(store);
        store.forget = (id) => {
          seen.clear();
          return forget(id);
        };
        return async (message) => {
          const id = message.meta?.id as string;
          if (id && seen.has(id)) return;
          await handler(message);
          if (!id) return;
          seen.add(id);
          await store.remember(id);
        };
      },
    ],
  ];

  it.for(mutants)("%s", async ([, sequence, wrapper]) => {
    await expect(runManifest(own, open, { wrap: wrapper })).rejects.toThrow(`manifest/${sequence}:`);
  });
});

describe("a malformed manifest is refused, and its fault is placed:", () => {
  const good = manifestOf([run("a")], 1);
  /** The good manifest with one place changed. */
  const changed = (place: string, value: unknown) => {
    const copy = structuredClone(good) as never;
    const names = place.split(".");
    const last = names.pop() ?? "";
    const owner = names.reduce<Record<string, unknown>>(
      (at, name) => at[name] as Record<string, unknown>,
      copy,
    );
    owner[last] = value;
    return copy;
  };

  it.for<[string, unknown, string]>([
    ["idempotency", undefined, "idempotency must be an object, got undefined"],
    ["idempotency.dedup_key", [], "idempotency.dedup_key must be an object, got an array"],
    [
      "idempotency.dedup_key.key_field",
      7,
      "idempotency.dedup_key.key_field must be a non-empty string, got 7",
    ],
    ["idempotency.sequences", null, "idempotency.sequences must be an object, got null"],
    ["idempotency.sequences.cases", [], "idempotency.sequences.cases must be an array with something in it"],
    [
      "idempotency.sequences.cases.0.name",
      "",
      'idempotency.sequences.cases[0].name must be a non-empty string, got ""',
    ],
    [
      "idempotency.sequences.cases.0.deliveries",
      {},
      "idempotency.sequences.cases[0].deliveries must be an array",
    ],
    [
      "idempotency.sequences.cases.0.expected_effects",
      "1",
      "idempotency.sequences.cases[0].expected_effects must be a whole number",
    ],
    [
      "idempotency.sequences.cases.0.deliveries.0.meta_id",
      5,
      "deliveries[0].meta_id must be a string or null, got 5",
    ],
    [
      "idempotency.sequences.cases.0.deliveries.0.expect_effect",
      "ran",
      'deliveries[0].expect_effect must be "run" or "skip", got "ran"',
    ],
    [
      "idempotency.sequences.cases.0.deliveries.0.outcome",
      undefined,
      'deliveries[0].outcome must be "ok" or "throw", got undefined',
    ],
    [
      "idempotency.sequences.cases.0.deliveries.0.forget_before",
      "yes",
      "deliveries[0].forget_before must be undefined or false or true",
    ],
    [
      "idempotency.sequences.cases.0.deliveries.0",
      { ...skip("a"), outcome: "ok" },
      "outcome, for a delivery that is skipped, must be undefined",
    ],
    [
      "idempotency.sequences.cases.0.deliveries.0",
      { ...run(""), forget_before: true },
      "meta_id, which is to be forgotten, must be a non-empty string",
    ],
  ])("%s as %j", ([place, value, message]) => {
    const error = rejectionOf(() => manifestCases(changed(place, value), { folder }));
    expect(error).toMatchObject({ name: "ManifestError", message: expect.stringContaining(message) });
    expect(error).toHaveProperty("place", expect.stringContaining("idempotency"));
  });

  it("a file that is not there", () => {
    expect(rejectionOf(() => manifestCases("no-such-manifest.json"))).toMatchObject({
      name: "ManifestError",
      message: expect.stringContaining("no-such-manifest.json"),
      cause: { code: "ENOENT" },
    });
  });

  it("a file that is not JSON", () => {
    expect(rejectionOf(() => manifestCases(import.meta.filename))).toMatchObject({
      name: "ManifestError",
      message: expect.stringContaining("is not JSON"),
    });
  });

  it("an envelope that is not there", () => {
    const manifest = changed("idempotency.dedup_key.envelope_file", "no-such-envelope.json");
    expect(rejectionOf(() => manifestCases(manifest, { folder }))).toMatchObject({
      message: expect.stringContaining('envelope_file "no-such-envelope.json"'),
    });
  });
});

function rejectionOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
