import assert from "node:assert/strict";
import { type Awaitable, type Message, type ReadKey, type Store, wrap } from "@bq/idempotency-core";
import { quoteId } from "@bq/idempotency-core/backend";
import type { CaseDefinition } from "./cases/definition.ts";
import {
  type LoadedManifest,
  loadManifest,
  type ManifestDelivery,
  type ManifestSequence,
} from "./manifest.ts";
import { type ContractCase, toContractCase } from "./run-case.ts";

/** What is held to a manifest beside the store: `wrap`, or another that means to do the same. */
export type Wrapper = (
  store: Store,
  handler: (message: Message) => Awaitable<unknown>,
  options?: { key: ReadKey<Message> },
) => (message: Message) => PromiseLike<unknown>;

/** With an observer: a manifest delivers messages without an id on purpose, and needs no warning of them. */
const ourWrap: Wrapper = (store, handler, options) => wrap(store, handler, { ...options, observe() {} });

/** How a manifest is replayed. */
export interface ManifestOptions {
  /** Where the `envelope_file` of a manifest is that was not read from a file. Default: the working directory. */
  folder?: string | undefined;
  /** Default: `wrap` of `@bq/idempotency-core`. */
  wrap?: Wrapper | undefined;
}

/**
 * The `idempotency` block of a BabelQueue conformance manifest, as cases: one for `dedup_key`, one for each sequence. They
 * apply to every store.
 *
 * @param manifest a path, a URL, or the parsed manifest
 * @throws {ManifestError} when the manifest is not in the format; its message and `place` name the fault
 */
export function manifestCases(
  manifest: string | URL | object,
  { folder = ".", wrap: wrapper = ourWrap }: ManifestOptions = {},
): ContractCase[] {
  const loaded = loadManifest(manifest, folder);
  const sequences = loaded.manifest.idempotency.sequences.cases.map((sequence) =>
    sequenceCase(sequence, wrapper),
  );
  return [dedupKeyCase(loaded, wrapper), ...sequences].map(toContractCase);
}

/**
 * Replays the `idempotency` block of a BabelQueue conformance manifest on a store of its own for each sequence.
 *
 * @param manifest a path, a URL, or the parsed manifest
 * @param openStore gives a store that is empty; it is closed with its `close()`, if it has one
 * @throws {ManifestError} when the manifest is not in the format
 * @throws {AggregateError} with an error for each case that failed
 *
 * @example
 * await runManifest("./manifest.json", () => new MyStore());
 */
export async function runManifest(
  manifest: string | URL | object,
  openStore: () => Awaitable<Store>,
  options?: ManifestOptions,
): Promise<void> {
  const failures: Error[] = [];
  const subject = { name: "the store under the manifest", open: () => openStore() };
  for (const { id, run } of manifestCases(manifest, options)) {
    await run(subject).catch((cause: unknown) => {
      failures.push(new Error(`${id}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
    });
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, failures.map(({ message }) => message).join("\n"));
  }
}

/** One trace for all messages: nothing may ever be told apart, or taken for the same, by it. */
const traceId = "trace-of-all-deliveries";

function envelopeOf({ meta_id }: ManifestDelivery, attempts: number) {
  return {
    job: "urn:babel:conformance:delivered",
    trace_id: traceId,
    data: {},
    meta: {
      ...(meta_id === undefined ? {} : { id: meta_id }),
      queue: "conformance",
      lang: "node",
      schema_version: 1,
      created_at: 1_700_000_000_000,
    },
    attempts,
  };
}

function sequenceCase(sequence: ManifestSequence, wrapper: Wrapper): CaseDefinition {
  return {
    id: `manifest/${sequence.name}`,
    title: `replays ${JSON.stringify(sequence.name)}`,
    needs: [],
    body: async (bench) => replay(sequence, await bench.open(), wrapper),
  };
}

async function replay(sequence: ManifestSequence, store: Store, wrapper: Wrapper): Promise<void> {
  let outcome: ManifestDelivery["outcome"];
  let invocations = 0;
  let successes = 0;
  let failure = new Error();
  const deliver = wrapper(store, async () => {
    invocations++;
    if (outcome === "throw") throw failure;
    successes++;
  });

  for (const [index, delivery] of sequence.deliveries.entries()) {
    const { meta_id: id, forget_before, expect_effect } = delivery;
    const usable = typeof id === "string" && id !== "";
    const which = `delivery ${index + 1} of ${sequence.deliveries.length}, ${usable ? quoteId(id) : "without an id"}`;
    if (forget_before && usable) await store.forget(id);
    outcome = delivery.outcome;
    failure = new Error(`the handler failed in ${which}`);
    const before = invocations;
    const thrown = await Promise.resolve(deliver(envelopeOf(delivery, index))).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    assert.equal(invocations - before, expect_effect === "run" ? 1 : 0, `${which}: handler invocations`);
    if (outcome === "throw") {
      assert.ok(thrown, `${which}: must fail with what its handler threw`);
      assert.equal(thrown.error, failure, `${which}: must fail with what its handler threw`);
    } else if (thrown) {
      assert.fail(`${which}: must succeed, but failed with ${String(thrown.error)}`);
    }
    if (usable) assert.equal(await store.seen(id), outcome !== "throw", `${which}: seen afterwards`);
  }

  assert.equal(
    invocations,
    sequence.expected_effects,
    "handler invocations in all, the throwing ones included",
  );
  const expectedSuccesses = sequence.deliveries.filter((delivery) => delivery.outcome === "ok").length;
  assert.equal(successes, expectedSuccesses, "handler invocations that succeeded");
}

function dedupKeyCase({ manifest, envelope }: LoadedManifest, wrapper: Wrapper): CaseDefinition {
  const { key_field, expected_key } = manifest.idempotency.dedup_key;
  return {
    id: "manifest/dedup_key",
    title: `${key_field} of the envelope, verbatim, is the key`,
    needs: [],
    async body(bench) {
      const store = await bench.open();
      assert.equal(readField(envelope, key_field), expected_key, `${key_field} of the envelope`);
      let invocations = 0;
      const handler = () => void invocations++;
      const deliver =
        key_field === "meta.id"
          ? wrapper(store, handler)
          : wrapper(store, handler, { key: (message) => String(readField(message, key_field)) });

      await deliver(structuredClone(envelope) as Message);
      assert.equal(invocations, 1, "invocations after the first delivery");
      assert.equal(await store.seen(expected_key), true, `seen(${quoteId(expected_key)})`);
      const traceId = readField(envelope, "trace_id");
      if (typeof traceId === "string" && traceId !== expected_key) {
        assert.equal(await store.seen(traceId), false, "seen(trace_id): it is not the key");
      }
      await deliver(structuredClone(envelope) as Message);
      assert.equal(invocations, 1, "invocations after the same bytes again");
      await deliver(withField(envelope, key_field, `${expected_key}-other`) as Message);
      assert.equal(invocations, 2, "invocations after a message that differs in its key alone");
    },
  };
}

function readField(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split(".")) at = (at as Record<string, unknown> | null | undefined)?.[name];
  return at;
}

function withField(value: unknown, path: string, replacement: string): unknown {
  const copy = structuredClone(value);
  const names = path.split(".");
  const last = names.pop() ?? path;
  const owner = names.length > 0 ? readField(copy, names.join(".")) : copy;
  (owner as Record<string, unknown>)[last] = replacement;
  return copy;
}
