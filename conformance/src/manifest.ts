import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { show } from "@bq/idempotency-core/backend";

/** One delivery of a sequence, and what the wrapper has to make of it. */
export interface ManifestDelivery {
  /** The message's `meta.id`; `""`, `null` or nothing at all stands for a message without a usable one. */
  readonly meta_id?: string | null;
  /** Forget the id before this delivery. */
  readonly forget_before?: boolean;
  /** Is the handler to run? */
  readonly expect_effect: "run" | "skip";
  /** What the handler does if it runs; only for `"run"`. */
  readonly outcome?: "ok" | "throw";
}

/** Deliveries to one handler, over one store that is empty at first. */
export interface ManifestSequence {
  /** Becomes part of the case's title. */
  readonly name: string;
  /** What the sequence shows, for people. */
  readonly description?: string;
  readonly deliveries: readonly ManifestDelivery[];
  /** How often the handler is to be invoked in all, the invocations that throw included. */
  readonly expected_effects: number;
}

/** What the suite reads of a BabelQueue conformance manifest. Whatever else is in it, it leaves alone. */
export interface Manifest {
  /** The block that speaks of idempotent consumers. */
  readonly idempotency: {
    readonly dedup_key: {
      /** The file of an envelope, relative to the manifest. */
      readonly envelope_file: string;
      /** Where in the envelope the id is, such as `meta.id`. */
      readonly key_field: string;
      readonly expected_key: string;
    };
    readonly sequences: { readonly cases: readonly ManifestSequence[] };
  };
}

/** A manifest could not be read, or has something else where the format wants this. */
export class ManifestError extends Error {
  override readonly name = "ManifestError";
  /** Where the fault is, such as `idempotency.sequences.cases[2].name`; `undefined`: the file as a whole. */
  readonly place: string | undefined;

  constructor(message: string, details: { place?: string; cause?: unknown } = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.place = details.place;
  }
}

/** A manifest that was read and checked, and the envelope that it names. */
export interface LoadedManifest {
  readonly manifest: Manifest;
  readonly envelope: unknown;
}

/**
 * Reads a manifest from its file, or takes one that was parsed already, whose `envelope_file` is then relative to `folder`.
 *
 * @throws {ManifestError} with the place, when it is not in the format
 */
export function loadManifest(source: string | URL | object, folder: string): LoadedManifest {
  if (typeof source === "string" || source instanceof URL) {
    const file = typeof source === "string" ? resolve(source) : fileURLToPath(source);
    const parsed = readJson(file, "The manifest");
    return check(parsed, file, dirname(file));
  }
  return check(source, "The manifest", folder);
}

function check(parsed: unknown, name: string, folder: string): LoadedManifest {
  requireManifest(parsed, name);
  const { envelope_file } = parsed.idempotency.dedup_key;
  const envelope = readJson(
    resolve(folder, envelope_file),
    `The envelope_file ${show(envelope_file)} of ${name}`,
  );
  return { manifest: parsed, envelope };
}

function readJson(file: string, what: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new ManifestError(`${what} could not be read: ${messageOf(cause)}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ManifestError(`${what}, ${file}, is not JSON: ${messageOf(cause)}`, { cause });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Walks through a manifest, and names the place of the first fault. */
function requireManifest(parsed: unknown, name: string): asserts parsed is Manifest {
  const fail = (place: string, rule: string, value: unknown): never => {
    throw new ManifestError(`${name}: ${place} must be ${rule}, got ${show(value)}.`, { place });
  };
  const object = (value: unknown, place: string): Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : fail(place, "an object", value);
  const list = (value: unknown, place: string): unknown[] =>
    Array.isArray(value) && value.length > 0 ? value : fail(place, "an array with something in it", value);
  const text = (value: unknown, place: string): string =>
    typeof value === "string" && value !== "" ? value : fail(place, "a non-empty string", value);
  const oneOf = (value: unknown, choices: readonly unknown[], place: string): void => {
    if (!choices.includes(value)) fail(place, choices.map((choice) => show(choice)).join(" or "), value);
  };

  const idempotency = object(object(parsed, "the manifest").idempotency, "idempotency");
  const dedupKey = object(idempotency.dedup_key, "idempotency.dedup_key");
  for (const field of ["envelope_file", "key_field", "expected_key"]) {
    text(dedupKey[field], `idempotency.dedup_key.${field}`);
  }
  const sequences = object(idempotency.sequences, "idempotency.sequences");
  for (const [index, sequence] of list(sequences.cases, "idempotency.sequences.cases").entries()) {
    const place = `idempotency.sequences.cases[${index}]`;
    const { name: title, deliveries, expected_effects } = object(sequence, place);
    text(title, `${place}.name`);
    if (!Number.isInteger(expected_effects) || Number(expected_effects) < 0) {
      fail(`${place}.expected_effects`, "a whole number of at least 0", expected_effects);
    }
    for (const [at, delivery] of list(deliveries, `${place}.deliveries`).entries()) {
      const where = `${place}.deliveries[${at}]`;
      const { meta_id, forget_before, expect_effect, outcome } = object(delivery, where);
      if (meta_id !== undefined && meta_id !== null && typeof meta_id !== "string") {
        fail(`${where}.meta_id`, "a string or null", meta_id);
      }
      oneOf(forget_before, [undefined, false, true], `${where}.forget_before`);
      if (forget_before) text(meta_id, `${where}.meta_id, which is to be forgotten,`);
      oneOf(expect_effect, ["run", "skip"], `${where}.expect_effect`);
      if (expect_effect === "run") oneOf(outcome, ["ok", "throw"], `${where}.outcome`);
      else oneOf(outcome, [undefined], `${where}.outcome, for a delivery that is skipped,`);
    }
  }
}
