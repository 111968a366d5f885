import { createHash } from "node:crypto";
import { isUsableId } from "./message.ts";
import { show } from "./options.ts";

/** Where a stored key is not the id itself, it starts with this. */
const hashed = "sha256:";

/** The longest id that is stored as it is, in UTF-8 bytes. */
const longestPlainBytes = 255;

/**
 * Turns an id into what a backend stores: the id itself when every backend can store that, otherwise a SHA-256 of it. A
 * plain id is well-formed UTF-16, free of U+0000, at most 255 UTF-8 bytes long and does not start with `sha256:`. Distinct
 * ids have distinct keys.
 *
 * @throws {TypeError} when the id is not a string, or empty
 */
export function storageKey(id: string): string {
  requireId(id);
  return isPlain(id) ? id : hashed + createHash("sha256").update(id, "utf16le").digest("base64url");
}

/** Throws `TypeError` unless `id` is usable. */
export function requireId(id: unknown): asserts id is string {
  if (!isUsableId(id))
    throw new TypeError(`An id must be a string of at least one character, got ${show(id)}.`);
}

/** Throws `TypeError` unless this is a list of usable ids. A string would pass for a list of its characters. */
export function requireIds(ids: unknown): asserts ids is readonly string[] {
  if (!Array.isArray(ids)) throw new TypeError(`Ids must come as an array of strings, got ${show(ids)}.`);
  for (const id of ids) requireId(id);
}

function isPlain(id: string): boolean {
  // A UTF-16 code unit takes at most 3 bytes of UTF-8, so a short id needs no count.
  if (id.length > longestPlainBytes) return false;
  if (id.length * 3 > longestPlainBytes && Buffer.byteLength(id) > longestPlainBytes) return false;
  return isWellFormed(id) && !id.includes("\0") && !id.startsWith(hashed);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the range of ASCII, the common case, told apart without a look at surrogates
const ascii = /^[\x00-\x7f]*$/;
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

function isWellFormed(id: string): boolean {
  return ascii.test(id) || !loneSurrogate.test(id);
}
