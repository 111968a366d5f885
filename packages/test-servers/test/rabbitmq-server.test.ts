import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "amqplib";
import { expect, test, vi } from "vitest";
import { startRabbitMq } from "../src/index.ts";
import { until } from "../src/until.ts";
import { processesBelow } from "./processes.ts";

vi.setConfig({ testTimeout: 240_000 });

// Not that it still knows the queue: Mnesia writes a declaration to the disk a little after it was confirmed.
test("a killed server restarts on the same port, and takes messages again", async () => {
  await using server = await startRabbitMq();
  const connection = await connect(server.url);
  // The server will go without a word.
  connection.on("error", () => {});
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue("kept");
  channel.sendToQueue("kept", Buffer.from("a message"), { persistent: true });
  await channel.waitForConfirms();
  await server.kill();
  await expect(connect(server.url)).rejects.toThrow();

  await server.restart();
  const again = await connect(server.url);
  const channelAgain = await again.createConfirmChannel();
  await channelAgain.assertQueue("new");
  channelAgain.sendToQueue("new", Buffer.from("a message"), { persistent: true });
  await channelAgain.waitForConfirms();
  expect(await channelAgain.get("new", { noAck: true })).toMatchObject({ content: Buffer.from("a message") });
  await again.close();
});

test("nothing is left of a server, its port mapper neither, after SIGKILL to the test process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bq-nothing-left-"));
  const program = fileURLToPath(new URL("./start-rabbitmq.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@bq/source", program], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended]);
  expect(startedWith(folder).length).toBeGreaterThan(3);
  child.kill("SIGKILL");
  await ended;
  await until(`no process was started with ${folder}`, () => startedWith(folder).length === 0);
  await until(`${folder} is empty`, () => readdirSync(folder).length === 0);
  rmSync(folder, { recursive: true });
});

test("startRabbitMq() fails, and names what to install, where there is no RabbitMQ", () => {
  const servers = new URL("../src/index.ts", import.meta.url).href;
  const script = `import { startRabbitMq } from ${JSON.stringify(servers)}; await startRabbitMq();`;
  const args = ["--conditions=@bq/source", "--input-type=module", "--eval", script];
  const { stderr } = spawnSync(process.execPath, args, { env: { PATH: "/nowhere" }, encoding: "utf8" });
  expect(stderr).toContain(
    "The tests need RabbitMQ, and found neither rabbitmq-server nor a way to install it.",
  );
  expect(stderr).toContain("apt-get install rabbitmq-server");
});

/** A daemon leaves its working folder, but keeps its environment. Elsewhere than on Linux only the folder can be seen. */
function startedWith(folder: string): string[] {
  if (process.platform !== "linux") return processesBelow(folder);
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}
