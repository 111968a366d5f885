import type { RedisClient } from "../../src/index.ts";

/** The client, with the names of the commands that a store sends through it, and a place to act before each. */
export interface CountingClient extends RedisClient {
  readonly sent: string[];
  beforeSending: (command: string, args: readonly string[]) => void;
}

export function counting(client: RedisClient): CountingClient {
  const sent: string[] = [];
  return {
    isCluster: client.isCluster,
    options: client.options,
    sent,
    beforeSending: () => {},
    on: (event, listener) => client.on(event, listener),
    call(command, args) {
      sent.push(command);
      this.beforeSending(command, args);
      return client.call(command, args);
    },
  };
}
