import { randomInt } from "node:crypto";
import { createServer } from "node:net";

// Below the range from which systems take the ports of outgoing connections: a server that is stopped for a while finds its
// port free again, and a client that tries to reconnect to it cannot end up connected to itself.
const LOWEST = 11_000;
const HIGHEST = 32_000;

/** A port of 127.0.0.1 on which nobody listens right now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/** Starts something on a free port; on another one if somebody else took the port in between. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return await start(port);
    } catch (error) {
      if (attempt === 5 || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
