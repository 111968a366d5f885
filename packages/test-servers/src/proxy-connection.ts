import { connect, type Socket } from "node:net";
import { DelayLine } from "./delay-line.ts";

/** The server behind the proxy. */
export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** What the network does to its connections right now. */
export interface ProxyFaults {
  delayMs: number;
  blackHole: boolean;
  swallowedBytes: number;
  /** Gets the connection on which the server answers next, before the answer is passed on. */
  onReply: ((connection: ProxyConnection) => void) | undefined;
}

/** One connection of a client, and the one to the server that belongs to it. */
export class ProxyConnection {
  readonly #client: Socket;
  /** `undefined` if opened inside a black hole: nothing gets as far as the server. */
  readonly #server: Socket | undefined;
  readonly #faults: ProxyFaults;
  readonly #replies: DelayLine = new DelayLine();
  #lostBytes = false;

  constructor(client: Socket, target: ProxyTarget, faults: ProxyFaults, onClosed: () => void) {
    this.#client = client;
    this.#faults = faults;
    this.#lostBytes = faults.blackHole;
    this.#server = faults.blackHole ? undefined : connect({ ...target, allowHalfOpen: true, noDelay: true });
    const server = this.#server;
    this.#listen(client, onClosed, {
      data: (bytes) => this.#pass(bytes.length, () => forward(bytes, client, server)),
      end: () => this.#pass(0, () => server?.end()),
    });
    if (server === undefined) return;
    this.#listen(server, onClosed, {
      data: (bytes) => this.#passReply(bytes.length, () => forward(bytes, server, client)),
      end: () => this.#passReply(0, () => client.end()),
    });
  }

  /** The client has not closed its side. */
  get hasClient(): boolean {
    return !this.#client.destroyed && !this.#client.readableEnded;
  }

  /** Something was swallowed, so the two sides can no longer understand each other. */
  get lostBytes(): boolean {
    return this.#lostBytes;
  }

  /** Ends both sides at once, as a broken network does. */
  reset(): void {
    this.#replies.clear();
    this.#client.resetAndDestroy();
    this.#server?.resetAndDestroy();
  }

  #listen(side: Socket, onClosed: () => void, on: { data(bytes: Buffer): void; end(): void }): void {
    side.on("data", on.data);
    side.on("end", on.end);
    side.on("error", () => this.#pass(0, () => this.reset()));
    side.on("close", () => {
      if (this.#client.destroyed && this.#server?.destroyed !== false) onClosed();
    });
  }

  #passReply(byteCount: number, deliver: () => void): void {
    if (!this.#faults.blackHole && byteCount > 0 && this.#faults.onReply !== undefined)
      this.#faults.onReply(this);
    else this.#pass(byteCount, () => this.#replies.put(this.#faults.delayMs, deliver));
  }

  /** Inside a black hole not even the end of a connection is heard of on the other side. */
  #pass(byteCount: number, deliver: () => void): void {
    if (this.#faults.blackHole) this.#lostBytes = true;
    if (this.#lostBytes) this.#faults.swallowedBytes += byteCount;
    else deliver();
  }
}

/** A slow reader slows the writer down, as on a direct connection. */
function forward(bytes: Buffer, from: Socket, to: Socket | undefined): void {
  if (to === undefined || to.destroyed || to.write(bytes)) return;
  from.pause();
  to.once("drain", () => from.resume());
}
