/**
 * Where the sources can be seen: as told, or as GitHub tells a workflow. npm compares it with the origin of a build that has
 * provenance.
 *
 * @throws Error when nobody tells
 */
export function repositoryUrl(
  told: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = env;
  const url = told ?? (server && name ? `${server}/${name}` : undefined);
  if (url === undefined) {
    throw new Error(
      "Pass --repository URL: the packages say where their sources are, and only the publisher knows.",
    );
  }
  if (!/^https:\/\/[^/]+\/.*[^/]$/.test(url))
    throw new Error(`--repository must be an https URL, got ${url}.`);
  return url.replace(/\.git$/, "");
}
