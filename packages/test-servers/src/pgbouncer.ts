import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findServer, type ServerSource } from "./find-server.ts";
import { onFreePort } from "./free-port.ts";
import { ServerProcess } from "./server-process.ts";
import { serverStart } from "./server-start.ts";
import { unprivilegedUser } from "./unprivileged-user.ts";
import { watchdog } from "./watchdog.ts";

const PGBOUNCER: ServerSource = {
  title: "PgBouncer",
  programs: ["pgbouncer"],
  aptPackage: "pgbouncer",
  image: "edoburu/pgbouncer",
};

export interface PgBouncerOptions {
  /** Default: "transaction". */
  readonly poolMode?: "session" | "transaction" | "statement";
  /** Connections to the server, per database and user. Default: 20. */
  readonly poolSize?: number;
}

export interface PgBouncerServer extends AsyncDisposable {
  /** The URL given at the start, with PgBouncer in place of the server. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Ends PgBouncer for good and removes its folder. */
  stop(): Promise<void>;
}

/** Starts PgBouncer in front of a Postgres server. @throws Error when there is none to be had; it names what to install. */
export async function startPgBouncer(
  postgresUrl: string,
  { poolMode = "transaction", poolSize = 20 }: PgBouncerOptions = {},
): Promise<PgBouncerServer> {
  const found = await findServer(PGBOUNCER);
  const user = unprivilegedUser();
  const host = "127.0.0.1";
  return onFreePort(async (port) => {
    const folder = await watchdog().makeFolder("pgbouncer", user);
    const target = new URL(postgresUrl);
    writeFileSync(join(folder, "users.txt"), userList(target));
    writeFileSync(
      join(folder, "pgbouncer.ini"),
      configuration({ target, folder, host, port, poolMode, poolSize }),
    );
    const server = await ServerProcess.start(
      serverStart(found, {
        name: "pgbouncer",
        args: [join(folder, "pgbouncer.ini")],
        folder,
        user,
        readyPattern: "process up",
        // It keeps nothing on disk, and its orderly end waits for clients.
        endSignal: "SIGKILL",
      }),
    );
    const url = new URL(postgresUrl);
    url.host = `${host}:${port}`;
    const stop = () => server.stop();
    return { url: url.href, host, port, stop, [Symbol.asyncDispose]: stop };
  });
}

interface Configuration extends Required<PgBouncerOptions> {
  readonly target: URL;
  readonly folder: string;
  readonly host: string;
  readonly port: number;
}

function configuration({ target, folder, host, port, poolMode, poolSize }: Configuration): string {
  return `[databases]
* = host=${target.hostname} port=${target.port || "5432"}
[pgbouncer]
listen_addr = ${host}
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users.txt")}
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
`;
}

/** Whoever connects is trusted, and the password of the URL is used towards the server. */
function userList(target: URL): string {
  const quoted = (text: string) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
  return `${quoted(target.username)} ${quoted(target.password)}\n`;
}
