import { createHash, randomUUID } from "node:crypto";

interface Held {
  readonly messageId: string;
  readonly body: string;
  receiveCount: number;
  hiddenUntil: number;
  receiptHandle: string;
}

/** A message as a receiver gets it. */
export interface Received {
  readonly MessageId: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly ReceiptHandle: string;
  readonly Attributes: { readonly ApproximateReceiveCount: string };
}

/** What a standard queue of SQS keeps: what is hidden for how long, and how often it was received. */
export class SqsQueue {
  /** The bodies of the messages that were received too often: what would be in the dead-letter queue. */
  readonly dead: string[] = [];
  readonly #maxReceiveCount: number;
  readonly #messages: Set<Held> = new Set();

  constructor(maxReceiveCount: number) {
    this.#maxReceiveCount = maxReceiveCount;
  }

  /** How many messages there are, those that are hidden included. */
  get size(): number {
    return this.#messages.size;
  }

  send(body: string): { MessageId: string; MD5OfMessageBody: string } {
    const messageId = randomUUID();
    this.#messages.add({ messageId, body, receiveCount: 0, hiddenUntil: 0, receiptHandle: "" });
    return { MessageId: messageId, MD5OfMessageBody: md5(body) };
  }

  /** The messages that are not hidden, in their order. They are hidden from now on, and the handles given before are void. */
  receive(limit: number, hiddenS: number): Received[] {
    const now = Date.now();
    const visible = [...this.#messages].filter(({ hiddenUntil }) => hiddenUntil <= now);
    for (const message of visible) if (message.receiveCount >= this.#maxReceiveCount) this.#giveUp(message);
    return visible
      .filter((message) => this.#messages.has(message))
      .slice(0, limit)
      .map((message) => {
        message.receiveCount += 1;
        message.hiddenUntil = now + hiddenS * 1_000;
        message.receiptHandle = randomUUID();
        return received(message);
      });
  }

  /** @returns whether the handle is the one of the last receive */
  delete(receiptHandle: string): boolean {
    const message = this.#find(receiptHandle);
    return message !== undefined && this.#messages.delete(message);
  }

  /** @returns whether the message is hidden, and the handle the one of the last receive */
  hide(receiptHandle: string, hiddenS: number): boolean {
    const message = this.#find(receiptHandle);
    if (message === undefined || message.hiddenUntil <= Date.now()) return false;
    message.hiddenUntil = Date.now() + hiddenS * 1_000;
    return true;
  }

  #find(receiptHandle: string): Held | undefined {
    return [...this.#messages].find((message) => message.receiptHandle === receiptHandle);
  }

  #giveUp(message: Held): void {
    this.#messages.delete(message);
    this.dead.push(message.body);
  }
}

function received({ messageId, body, receiptHandle, receiveCount }: Held): Received {
  return {
    MessageId: messageId,
    Body: body,
    MD5OfBody: md5(body),
    ReceiptHandle: receiptHandle,
    Attributes: { ApproximateReceiveCount: String(receiveCount) },
  };
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
