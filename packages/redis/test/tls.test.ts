import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { RedisStore } from "../src/index.ts";
import { ownRedis, plainClient } from "./support/servers.ts";

const folder = mkdtempSync(join(tmpdir(), "bq-redis-tls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// The server may run as another user.
chmodSync(folder, 0o755);
const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
execFileSync(
  "openssl",
  [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
  ],
  { stdio: "pipe" },
);
chmodSync(key, 0o644);

/** A server that also speaks TLS, with a certificate that it signed itself. */
async function tlsServer(...args: string[]): Promise<{ plainUrl: string; url: string; port: number }> {
  const port = await freePort();
  const files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate];
  const server = await ownRedis({
    args: ["--tls-port", String(port), "--tls-auth-clients", "no", ...files, ...args],
  });
  return { plainUrl: server.url, url: `rediss://localhost:${port}`, port };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** Marks `marked` in a process that trusts the certificate. */
async function markOverTls(target: string): Promise<void> {
  const worker = fileURLToPath(new URL("workers/marker.ts", import.meta.url));
  await promisify(execFile)(process.execPath, ["--conditions=@bq/source", worker, target, "tls:"], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
  });
}

it("rediss:// works with a certificate that the process trusts, and is refused with the reason otherwise", async () => {
  const { url, plainUrl } = await tlsServer();
  await expect(RedisStore.connect(url)).rejects.toMatchObject({
    name: "StoreError",
    message: expect.stringMatching(/cannot be reached: self-signed certificate/),
  });
  await markOverTls(url);
  expect(await new RedisStore(plainClient(plainUrl), { prefix: "tls:" }).seen("marked")).toBe(true);
});

it("a borrowed client brings its own certificates", async () => {
  const { port } = await tlsServer();
  const client = new Redis({ host: "localhost", port, tls: { ca: readFileSync(certificate) } });
  onTestFinished(() => client.disconnect());
  const store = new RedisStore(client);
  await store.remember("a");
  expect(await store.seen("a")).toBe(true);
});

it("a cluster is reached over TLS by rediss:// nodes, and the nodes that it names as well", async () => {
  const { url, plainUrl } = await tlsServer(
    ...["--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-announce-ip", "127.0.0.1"],
    ...["--cluster-port", String(await freePort())],
  );
  const admin = plainClient(plainUrl);
  await admin.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  await expect.poll(() => admin.call("CLUSTER", "INFO"), { timeout: 20_000 }).toMatch(/cluster_state:ok/);
  await markOverTls(JSON.stringify([url]));
  expect(await admin.get("tls:marked")).toBe("1");
});
