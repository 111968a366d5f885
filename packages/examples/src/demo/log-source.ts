import { createReadStream, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";

/** The log that comes with the demo. */
export const shippedLog: string = fileURLToPath(new URL("../../deliveries.jsonl", import.meta.url));

/** A log whose size is known, so that its middle is. */
export interface LogSource {
  /** What to call it in messages. */
  readonly name: string;
  readonly sizeBytes: number;
  open(): Readable;
}

/** The log cannot be read: the user named something that is no readable file. */
export class UnreadableLogError extends Error {
  override readonly name = "UnreadableLogError";
}

/**
 * Finds the log: the one that is shipped, the user's file, or standard input (`-`). What is no regular file is first copied
 * into `folder`.
 *
 * @throws {UnreadableLogError} when it cannot be opened
 */
export async function openLog(file: string | undefined, stdin: Readable, folder: string): Promise<LogSource> {
  if (file === "-") return spool("standard input", stdin, folder);
  // npm starts the demo in its own folder; the user typed the name in another.
  const path = file === undefined ? shippedLog : resolve(process.env.INIT_CWD ?? ".", file);
  const name = basename(path);
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new UnreadableLogError(`${path} is a directory, not a file.`);
    if (!found.isFile()) return await spool(name, createReadStream(path), folder);
    await (await open(path)).close();
    return { name, sizeBytes: found.size, open: () => createReadStream(path) };
  } catch (error) {
    if (error instanceof UnreadableLogError) throw error;
    throw new UnreadableLogError(`Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

async function spool(name: string, input: Readable, folder: string): Promise<LogSource> {
  const path = join(folder, "log.jsonl");
  await pipeline(input, createWriteStream(path));
  return { name, sizeBytes: (await stat(path)).size, open: () => createReadStream(path) };
}
