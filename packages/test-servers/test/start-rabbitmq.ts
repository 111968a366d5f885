// A process of its own that starts a RabbitMQ server and stays until it is ended.
import { startRabbitMq } from "../src/index.ts";

await startRabbitMq();
setInterval(() => {}, 1_000);
process.stdout.write("ready\n");
