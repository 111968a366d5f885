import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { onFreePort } from "./free-port.ts";
import { type PostgresPrograms, postgresPrograms, runnableBy } from "./postgres-programs.ts";
import { ServerProcess } from "./server-process.ts";
import { unprivilegedUser } from "./unprivileged-user.ts";
import { watchdog } from "./watchdog.ts";
import type { SystemUser } from "./watchdog-messages.ts";

export interface PostgresOptions {
  /** Waits for the disk on every commit, as a server in production does. Default: false. */
  readonly durable?: boolean;
  /** Further settings, such as `{ max_connections: "20" }`. They win over ours. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further variables of the server's environment, such as those of `faketime`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A Postgres server of the tests' own. */
export interface PostgresServer extends AsyncDisposable {
  /** Of the superuser, on the database `postgres`. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Creates an empty database and gives the superuser's URL for it. */
  createDatabase(): Promise<string>;
  /** Ends the server for good and removes its folder. */
  stop(): Promise<void>;
  /** SIGKILL for the server and all its backends; the folder stays for `restart()`. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and in the same folder; ends it first if it runs. */
  restart(): Promise<void>;
  /** Freezes the server and all its backends: connections stay open, nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

const HOST = "127.0.0.1";
// In English, since the server's readiness is read from its messages.
const ENVIRONMENT = { LC_ALL: "C", TZ: "UTC" };

/** Starts a Postgres server from the programs that come with npm. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const user = unprivilegedUser();
  const found = await postgresPrograms();
  return onFreePort(async (port) => {
    const folder = await watchdog().makeFolder("postgres", user);
    const programs = runnableBy(user, found, folder);
    await initialise(programs, folder, user);
    const server = await ServerProcess.start({
      program: programs.postgres,
      args: ["-D", dataFolder(folder), ...settings(port, options).flatMap((setting) => ["-c", setting])],
      folder,
      user,
      env: { ...ENVIRONMENT, ...options.env },
      readyPattern: "database system is ready to accept connections",
      endSignal: "SIGINT",
    });
    return describe(server, port);
  });
}

const dataFolder = (folder: string): string => join(folder, "data");

async function initialise(
  { initdb }: PostgresPrograms,
  folder: string,
  user: SystemUser | undefined,
): Promise<void> {
  const args = [
    `--pgdata=${dataFolder(folder)}`,
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
  ];
  try {
    await watchdog().run({ program: initdb, args, folder, user, env: ENVIRONMENT });
  } catch (error) {
    await watchdog().removeFolder(folder);
    throw error;
  }
}

function settings(port: number, { durable = false, settings = {} }: PostgresOptions): string[] {
  const all = {
    port: String(port),
    listen_addresses: HOST,
    // The path of a Unix socket in a temporary folder may be longer than the system allows.
    unix_socket_directories: "",
    // Files of the data folder, so that a killed server leaves nothing in /dev/shm.
    dynamic_shared_memory_type: "mmap",
    max_connections: "200",
    // What was committed is with the operating system, so that killing the server, unlike the machine, loses none of it.
    ...(durable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...settings,
  };
  return Object.entries(all).map(([name, value]) => `${name}=${value}`);
}

function describe(server: ServerProcess, port: number): PostgresServer {
  const url = `postgres://postgres@${HOST}:${port}/postgres`;
  const stop = async () => {
    const killed = server.pid === undefined;
    const segment = killed ? sharedMemory(server.folder) : undefined;
    await server.stop();
    if (segment !== undefined) removeSharedMemory(segment);
  };
  return {
    url,
    host: HOST,
    port,
    createDatabase: () => createDatabase(url),
    stop,
    kill: () => server.kill(),
    restart: () => server.restart(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    [Symbol.asyncDispose]: stop,
  };
}

/** Creates an empty database on the server of this URL and gives the URL for it. */
export async function createDatabase(serverUrl: string): Promise<string> {
  const name = `bq_test_${randomBytes(8).toString("hex")}`;
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE template0`);
  } finally {
    await sql.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The System V segment by which the server guards its data folder. A killed server cannot remove it. */
function sharedMemory(folder: string): string | undefined {
  try {
    return readFileSync(join(dataFolder(folder), "postmaster.pid"), "utf8")
      .split("\n")[6]
      ?.trim()
      .split(/\s+/)[1];
  } catch {
    return undefined;
  }
}

function removeSharedMemory(segment: string): void {
  try {
    execFileSync("ipcrm", ["-m", segment], { stdio: "ignore" });
  } catch {
    // It is gone already, or this system has no ipcrm: 56 bytes stay until the machine restarts.
  }
}
