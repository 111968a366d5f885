import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SqsQueue } from "./sqs-queue.ts";

interface Request {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly ReceiptHandle: string;
  readonly VisibilityTimeout?: number;
  readonly MaxNumberOfMessages?: number;
  readonly WaitTimeSeconds?: number;
}

/** The part of SQS that a consumer uses, in this process and over HTTP: the JSON protocol, as the AWS SDK speaks it. */
export class SqsEndpoint {
  readonly client: SQSClient;
  /** The actions that were requested, such as `ReceiveMessage`, in their order. */
  readonly actions: string[] = [];
  readonly #server: Server;
  readonly #url: string;
  readonly #queues: Map<string, SqsQueue> = new Map();

  private constructor(server: Server) {
    this.#server = server;
    this.#url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    this.client = new SQSClient({ region: "us-east-1", endpoint: this.#url, credentials });
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<SqsEndpoint> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SqsEndpoint(server);
  }

  /** A queue whose messages go to the dead letters when they were received so often. */
  createQueue(maxReceiveCount: number): { queue: SqsQueue; queueUrl: string } {
    const queue = new SqsQueue(maxReceiveCount);
    const queueUrl = `${this.#url}/000000000000/queue-${this.#queues.size}`;
    this.#queues.set(queueUrl, queue);
    return { queue, queueUrl };
  }

  async stop(): Promise<void> {
    this.client.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const action = String(message.headers["x-amz-target"]).replace("AmazonSQS.", "");
    const request = (await json(message)) as Request;
    this.actions.push(action);
    const answer = await this.#answer(action, request, response);
    response.writeHead(answer ? 200 : 400, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify(answer ?? { __type: "com.amazonaws.sqs#ReceiptHandleIsInvalid" }));
  }

  async #answer(action: string, request: Request, response: ServerResponse): Promise<object | undefined> {
    const queue = this.#queues.get(request.QueueUrl);
    const { ReceiptHandle, VisibilityTimeout = 30 } = request;
    switch (action) {
      case "SendMessage":
        return queue?.send(request.MessageBody);
      case "ReceiveMessage":
        return queue && { Messages: await receive(queue, request, response) };
      case "ChangeMessageVisibility":
        return queue?.hide(ReceiptHandle, VisibilityTimeout) ? {} : undefined;
      case "DeleteMessage":
        return queue?.delete(ReceiptHandle) ? {} : undefined;
    }
    return undefined;
  }
}

/** Waits for the first message as long as it was asked to, or until nobody listens any more. */
async function receive(queue: SqsQueue, request: Request, response: ServerResponse) {
  const { MaxNumberOfMessages = 1, VisibilityTimeout = 30, WaitTimeSeconds = 0 } = request;
  const end = Date.now() + WaitTimeSeconds * 1_000;
  for (;;) {
    if (response.destroyed) return [];
    const messages = queue.receive(MaxNumberOfMessages, VisibilityTimeout);
    if (messages.length > 0 || Date.now() >= end) return messages;
    await delay(20);
  }
}
