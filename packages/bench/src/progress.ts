import type { WriteStream } from "node:tty";

/** Says what is under way: on one line of a terminal that is written over, elsewhere a line for each round. */
export class Progress {
  readonly #stream: WriteStream;
  #round = 0;

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  say(message: string): void {
    if (this.#stream.isTTY) this.#stream.write(`\r\x1b[K${message}`);
    else this.#stream.write(`${message}\n`);
  }

  round(round: number, rounds: number, contestant: string): void {
    if (this.#stream.isTTY) this.say(`Round ${round} of ${rounds}: ${contestant}`);
    else if (round !== this.#round) this.say(`Round ${round} of ${rounds}`);
    this.#round = round;
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write("\r\x1b[K");
  }
}
