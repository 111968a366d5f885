import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { requireSubject, type Subject } from "./subject.ts";

/** The command was given something that it cannot work with; the message says what, and the way out. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Loads a module, ESM or CommonJS, and takes the subject that it exports: as `subject`, or as its default export.
 *
 * @throws {UsageError} when it cannot be loaded, or exports no subject
 */
export async function loadSubject(path: string): Promise<Subject> {
  const exported = await load(path);
  const fallback = exported.default as Record<string, unknown> | null | undefined;
  // A CommonJS module comes as the default export, and one that was compiled from ESM has a default of its own in there.
  const subject = exported.subject ?? fallback?.subject ?? fallback?.default ?? fallback;
  if (subject === null || subject === undefined) {
    throw new UsageError(`${path} exports no subject: export it as "subject" or as the default.`);
  }
  try {
    requireSubject(subject);
  } catch (error) {
    throw new UsageError(`${path} exports no subject that could be run. ${(error as Error).message}`);
  }
  return subject;
}

async function load(path: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    const { code, stack } = (error ?? {}) as { code?: unknown; stack?: unknown };
    if (code === "ERR_UNKNOWN_FILE_EXTENSION") {
      throw new UsageError(
        `${path} could not be loaded: Node ${process.version} does not run files of this kind. Compile it to JavaScript, or use Node 22.18 or later for TypeScript.`,
      );
    }
    throw new UsageError(`${path} could not be loaded: ${String(stack ?? error)}`);
  }
}
