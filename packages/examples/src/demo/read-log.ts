/** The longest line that is read, in bytes. No broker takes a message as large. */
export const longestLineBytes: number = 16 * 1_024 * 1_024;

/** One delivery of a log. */
export interface LoggedDelivery {
  /** Counted from 1, blank lines included. */
  readonly line: number;
  readonly text: string;
  readonly message: object;
  /** How many bytes of the log end with this line. */
  readonly endByte: number;
}

/** A line that is no delivery, and why. */
export interface MalformedLine {
  readonly line: number;
  readonly reason: string;
}

interface RawLine {
  readonly line: number;
  /** `undefined`: longer than the longest. */
  readonly bytes: Buffer | undefined;
  readonly endByte: number;
}

/**
 * Reads a delivery log: JSON Lines in UTF-8, with or without a byte order mark, lines ended by LF or CR LF. Blank lines are
 * passed over; a line that is not a JSON object is told to `onMalformed`, and the reading goes on.
 */
export async function* readLog(
  chunks: AsyncIterable<Buffer>,
  onMalformed: (malformed: MalformedLine) => void,
): AsyncGenerator<LoggedDelivery, void, undefined> {
  for await (const { line, bytes, endByte } of splitLines(chunks)) {
    const read = bytes === undefined ? tooLong : parse(bytes);
    if (read === undefined) continue;
    if (typeof read === "string") onMalformed({ line, reason: read });
    else yield { line, endByte, ...read };
  }
}

const tooLong = `longer than ${longestLineBytes / 1_024 / 1_024} MiB`;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A message, or what is wrong with the line; `undefined` when it is blank. */
function parse(bytes: Buffer): { text: string; message: object } | string | undefined {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return "not UTF-8";
  }
  if (text.trim() === "") return undefined;
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (error) {
    return `not JSON (${printable((error as Error).message)})`;
  }
  if (typeof message !== "object" || message === null) return `not a JSON object, but ${kindOf(message)}`;
  if (Array.isArray(message)) return "not a JSON object, but an array";
  return { text, message };
}

function kindOf(value: unknown): string {
  return value === null ? "null" : `a ${typeof value}`;
}

/** The parser quotes the line, which may hold anything: escape what a terminal would obey, and keep it short. */
function printable(reason: string): string {
  const escaped = reason.replace(/[^\P{C} ]/gu, (unit) =>
    JSON.stringify(unit)
      .slice(1, -1)
      .replace(/^[^\\]+$/, "?"),
  );
  return escaped.length > 160 ? `${escaped.slice(0, 160)}…` : escaped;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawLine, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  let line = 0;
  let endByte = 0;
  const finish = (): RawLine => {
    line++;
    const bytes = length > longestLineBytes ? undefined : trimLine(Buffer.concat(parts), line);
    parts = [];
    length = 0;
    return { line, bytes, endByte };
  };
  const add = (part: Buffer): void => {
    length += part.length;
    endByte += part.length;
    // A line that is too long is only measured: what it holds is let go.
    if (length > longestLineBytes) parts = [];
    else parts.push(part);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, end));
      endByte++;
      yield finish();
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (length > 0) yield finish();
}

function trimLine(bytes: Buffer, line: number): Buffer {
  const start = line === 1 && bytes.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
  const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
  return bytes.subarray(Math.min(start, end), end);
}
