import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { readTarball } from "./tarball.ts";
import type { Manifest } from "./workspace.ts";

/** A registry on this machine that knows the packed packages and nothing else. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Serves tarballs as the npm registry would, so that package managers install them by name and version, with their
 * dependencies on each other. Everything outside of our scope comes from the registry that they are set up for.
 */
export async function startRegistry(tarballs: readonly string[]): Promise<Registry> {
  const files = new Map(tarballs.map((path) => [`/tarballs/${basename(path)}`, readFileSync(path)]));
  const documents = new Map<string, (url: string) => string>();
  for (const path of tarballs) {
    const manifest: Manifest = JSON.parse(String(readTarball(path).get("package.json")));
    documents.set(`/${manifest.name}`, (url) =>
      describe(manifest, `${url}/tarballs/${basename(path)}`, path),
    );
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    const body = files.get(path) ?? documents.get(path)?.(url);
    response.statusCode = body === undefined ? 404 : 200;
    response.setHeader("content-type", files.has(path) ? "application/octet-stream" : "application/json");
    response.end(body ?? JSON.stringify({ error: `there is no ${path}` }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, stop, [Symbol.asyncDispose]: stop };
}

/** Long ago: package managers hold back what was published just now. */
const PUBLISHED_AT = "2020-01-01T00:00:00.000Z";

/** What a registry tells of a package that has one version. */
function describe(manifest: Manifest, tarball: string, path: string): string {
  const content = readFileSync(path);
  const integrity = `sha512-${createHash("sha512").update(content).digest("base64")}`;
  const shasum = createHash("sha1").update(content).digest("hex");
  const { name, version } = manifest;
  return JSON.stringify({
    name,
    "dist-tags": { latest: version },
    time: { [version]: PUBLISHED_AT },
    versions: { [version]: { ...manifest, dist: { tarball, integrity, shasum } } },
  });
}
