import { createServer, type Server, type Socket } from "node:net";
import { freePort } from "./free-port.ts";
import { ProxyConnection, type ProxyFaults, type ProxyTarget } from "./proxy-connection.ts";

/** A TCP proxy on 127.0.0.1 that plays a faulty network between a client and a server. */
export interface Proxy extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** How many connections of clients are open. */
  readonly connections: number;
  /** How many bytes black holes have swallowed so far: tells a test that something was sent. */
  readonly swallowedBytes: number;
  /** Resets all connections and refuses new ones until `heal()`. */
  cut(): Promise<void>;
  /** Resets the connections that are open now; new ones work. */
  cutOnce(): void;
  /**
   * The next bytes that the server sends are dropped, and that connection is reset: the request arrived, its answer is lost.
   * Works once. Resolves when it has happened.
   */
  cutBeforeReply(): Promise<void>;
  /** Holds back everything that the server sends by this many milliseconds, until `heal()`. */
  delay(ms: number): void;
  /** Swallows what either side sends, a closing included, on open and on new connections, until `heal()`. */
  blackHole(): void;
  /** Ends every fault. Connections that lost bytes in a black hole are reset. */
  heal(): Promise<void>;
  /** Resets all connections and ends the proxy. */
  stop(): Promise<void>;
}

/** Starts a proxy in front of a server, in this process. */
export async function startProxy(target: ProxyTarget): Promise<Proxy> {
  const proxy = new FaultyProxy(target, await freePort());
  await proxy.heal();
  return proxy;
}

class FaultyProxy implements Proxy {
  readonly host = "127.0.0.1";
  readonly port: number;
  readonly #target: ProxyTarget;
  readonly #open: Set<ProxyConnection> = new Set();
  readonly #faults: ProxyFaults = { delayMs: 0, blackHole: false, swallowedBytes: 0, onReply: undefined };
  #server: Server | undefined;

  constructor(target: ProxyTarget, port: number) {
    this.#target = target;
    this.port = port;
  }

  get connections(): number {
    return [...this.#open].filter((connection) => connection.hasClient).length;
  }

  get swallowedBytes(): number {
    return this.#faults.swallowedBytes;
  }

  async cut(): Promise<void> {
    const closed = this.#close();
    this.cutOnce();
    await closed;
  }

  cutOnce(): void {
    for (const connection of this.#open) connection.reset();
  }

  cutBeforeReply(): Promise<void> {
    return new Promise((resolve) => {
      this.#faults.onReply = (connection) => {
        this.#faults.onReply = undefined;
        connection.reset();
        resolve();
      };
    });
  }

  delay(ms: number): void {
    this.#faults.delayMs = ms;
  }

  blackHole(): void {
    this.#faults.blackHole = true;
  }

  async heal(): Promise<void> {
    this.#faults.delayMs = 0;
    this.#faults.blackHole = false;
    this.#faults.onReply = undefined;
    for (const connection of this.#open) if (connection.lostBytes) connection.reset();
    await this.#listen();
  }

  stop(): Promise<void> {
    return this.cut();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.cut();
  }

  #listen(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve();
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, this.host, () => resolve());
    });
  }

  #close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return Promise.resolve();
    return new Promise((resolve) => server.close(() => resolve()));
  }

  #accept(client: Socket): void {
    const connection = new ProxyConnection(client, this.#target, this.#faults, () =>
      this.#open.delete(connection),
    );
    this.#open.add(connection);
  }
}
