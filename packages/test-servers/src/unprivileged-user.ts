import { execFileSync } from "node:child_process";
import type { SystemUser } from "./watchdog-messages.ts";

/**
 * Whom a server runs as that refuses to run as root: an account that every system has, so that none needs to be made.
 * `undefined`: we are not root.
 */
export function unprivilegedUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (kind: string) => Number(execFileSync("id", [kind, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}
