import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { onPath } from "./on-path.ts";

const execute = promisify(execFile);
/** Another process may be installing as well; it is waited for this long. */
const INSTALL_LIMIT_MS = 300_000;

/** Installs the package where we may: on Debian, as root. Elsewhere, and when it fails, nothing is different afterwards. */
export async function installByApt(aptPackage: string): Promise<void> {
  const apt = onPath("apt-get");
  if (process.getuid?.() !== 0 || apt === undefined || !existsSync("/etc/debian_version")) return;
  const end = Date.now() + INSTALL_LIMIT_MS;
  let failure: unknown;
  do {
    try {
      await aptGet(apt, "update");
      await aptGet(apt, "install", "-y", "--no-install-recommends", aptPackage);
      await stopService(aptPackage);
      return;
    } catch (error) {
      failure = error;
      // Another test process is at it: `update` does not wait for its lock, as `install` does.
      if (!/could not get lock|unable to (acquire|lock)/i.test(String(error))) break;
      await delay(1_000);
    }
  } while (Date.now() < end);
  process.emitWarning(`apt-get could not install ${aptPackage}: ${String(failure)}`);
}

async function aptGet(apt: string, ...args: string[]): Promise<void> {
  const lock = `DPkg::Lock::Timeout=${INSTALL_LIMIT_MS / 1_000}`;
  // RUNLEVEL: in single-user mode, Debian does not start a service that it has just installed.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C", RUNLEVEL: "1" };
  await execute(apt, ["-o", lock, "-q", ...args], { env, timeout: INSTALL_LIMIT_MS, maxBuffer: 2 ** 26 });
}

/** The tests start servers of their own; a service must not stay behind only because we needed its program. */
async function stopService(name: string): Promise<void> {
  const systemctl = existsSync("/run/systemd/system") ? onPath("systemctl") : undefined;
  if (systemctl !== undefined) await execute(systemctl, ["disable", "--now", name]).catch(() => {});
  else if (existsSync(`/etc/init.d/${name}`)) await execute(`/etc/init.d/${name}`, ["stop"]).catch(() => {});
}
