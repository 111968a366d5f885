import { Socket } from "node:net";
import type postgres from "postgres";

/** What the guard touches of a postgres.js query beside its documented side; the same in 3.4.2 to 3.4.9. */
export interface DriverQuery extends Promise<{ readonly command: string | null }> {
  /** Is called once, when somebody first waits for the query or executes it. */
  handler: ((query: DriverQuery) => void) & { debug?: unknown };
  strings: readonly string[];
  /** Not null as soon as a connection was told to send it. */
  readonly state: object | null;
  /** It is the one that the server answers next. */
  readonly active: boolean;
  readonly cancelled: unknown;
  /** If it is, the driver repeats it when the server refused it for want of its plan. */
  prepared?: boolean;
  readonly canceller: ((query: DriverQuery) => PromiseLike<void>) | null;
  readonly streaming?: boolean;
  readonly cursorRows?: number;
  cursorFn?: ((rows: unknown) => unknown) | undefined;
  reject(reason: unknown): void;
}

/** What the guard touches of a postgres.js connection: the same that the driver's own `sql.begin` does. */
export interface DriverConnection {
  /**
   * Whoever holds the connection: called when the server awaits the next statement and says that it is in a transaction. The
   * driver sets it to null when the server says that it is in none, and when the socket closes.
   */
  reserved: Hold | null;
  /** Called when the socket closes, before the connection can open another. */
  onclose: ((error: unknown) => void) | null | undefined;
  /** The list of the pool's that it stands in. */
  queue: { remove(connection: DriverConnection): unknown; push(connection: DriverConnection): unknown };
  execute(query: DriverQuery): unknown;
  terminate(): void;
}

export interface Hold {
  (): void;
  /**
   * The driver reads it whenever the server awaits a statement, before it looks at what the server said. When it is true, the
   * connection stays held although the server is in no transaction.
   */
  readonly release: boolean;
}

const nothing = () => {};

/** A statement of the guard's own, which `DriverConnection.execute` alone sends. */
export function ownQuery(sql: postgres.Sql, text: string): DriverQuery {
  const query = sql.unsafe(text) as unknown as DriverQuery;
  query.handler = nothing;
  // Its failure may come before somebody waits for it. Its own `catch` would call the handler.
  Promise.prototype.catch.call(query, nothing);
  return query;
}

/**
 * Sends a statement by the pool and tells on which connection, at once when it is handed over, and whether no other statement is
 * under way there. Under load the driver may send it and tell nothing.
 */
export function whichConnection(
  sql: postgres.Sql,
  text: string,
  tell: (connection: DriverConnection, alone: boolean) => void,
): PromiseLike<unknown> {
  const onexecute = (connection: DriverConnection): false => {
    tell(connection, query.active);
    // Anything else would let the pool send others' statements on this connection.
    return false;
  };
  const query = sql.unsafe(text, [], { onexecute } as postgres.UnsafeQueryOptions) as unknown as DriverQuery;
  return query;
}

/** Takes a connection that the pool still lists as free or coming off that list. */
export function takeOffList(connection: DriverConnection): void {
  connection.queue.remove(connection);
  connection.queue = { remove: nothing, push: nothing };
}

/** Asks the server, by a connection of its own, to stop the statement. */
export function cancel(query: DriverQuery): void {
  if (query.active) Promise.resolve(query.canceller?.(query)).catch(nothing);
}

/**
 * Closes the connection now, and drops what it has not sent.
 *
 * The driver itself says goodbye and waits for the server to close, which takes a quarter of an hour when the network swallows
 * everything; so its socket, which it keeps to itself, is caught and destroyed. And what it gathered for the end of this turn
 * of the event loop it would keep, as the first bytes of its next connection, and never open that; so it is made to write it.
 */
export function destroy(sql: postgres.Sql, connection: DriverConnection): void {
  const socket = catchSocket(() => {
    // It writes at once when it has gathered 1024 bytes. With a COPY under way it gathers none and refuses this.
    connection.execute(ownQuery(sql, " ".repeat(1_024)));
    connection.terminate();
  });
  socket?.destroy();
}

/** Gives the socket that is written to or ended by a synchronous call. What is written then is not sent. */
function catchSocket(act: () => void): Socket | undefined {
  const { prototype } = Socket;
  const own = Object.getOwnPropertyDescriptors(prototype);
  const { end } = prototype;
  let socket: Socket | undefined;
  // In place for one synchronous call of the driver, so nobody else can meet it.
  const patch = (name: "end" | "write", value: (this: Socket, ...args: unknown[]) => unknown) =>
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  patch("write", function () {
    socket = this;
    return true;
  });
  patch("end", function (...args) {
    socket = this;
    return Reflect.apply(end, this, args);
  });
  try {
    act();
  } finally {
    Object.defineProperty(prototype, "end", own.end);
    if (own.write === undefined) Reflect.deleteProperty(prototype, "write");
    else Object.defineProperty(prototype, "write", own.write);
  }
  return socket;
}
