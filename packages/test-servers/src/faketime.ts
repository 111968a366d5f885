import { readdirSync } from "node:fs";
import { join } from "node:path";
import { installByApt } from "./apt.ts";

/** Where packages of Linux and macOS put the library; on Debian each architecture has a folder of its own in between. */
const folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib"];
const names = ["libfaketimeMT.so.1", "libfaketimeMT.1.dylib"];

/**
 * The environment of a process whose wall clock is off by `offset`, such as `"+1d"`; its monotonic clock is not. The library
 * libfaketime is found on this machine, else installed with apt where that is possible.
 *
 * @throws Error that names what to install: a clock that cannot be moved fails the tests.
 */
export async function faketime(
  offset: string,
  { within = folders }: { within?: readonly string[] } = {},
): Promise<Record<string, string>> {
  if (find(within) === undefined) await installByApt("libfaketime");
  const library = find(within);
  if (library === undefined) {
    throw new Error(
      "The tests need libfaketime, and found neither the library nor a way to install it " +
        "(Debian, Ubuntu: apt-get install libfaketime; macOS: brew install libfaketime).",
    );
  }
  const preload = library.endsWith(".dylib") ? "DYLD_INSERT_LIBRARIES" : "LD_PRELOAD";
  return { [preload]: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}

function find(within: readonly string[]): string | undefined {
  return within
    .flatMap((folder) => [folder, ...entries(folder).map((name) => join(folder, name))])
    .flatMap((folder) => entries(join(folder, "faketime")).map((name) => join(folder, "faketime", name)))
    .find((file) => names.some((name) => file.endsWith(name)));
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
