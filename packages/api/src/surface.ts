import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { workspace } from "@bq/idempotency-packaging/workspace";
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { type EntryPoint, requireBuilt } from "./entry-points.ts";

/** The folder of the reports. */
export const reportFolder: string = fileURLToPath(new URL("../surface/", import.meta.url));

export function reportFile({ name }: Pick<EntryPoint, "name">): string {
  return `${name.replace("@bq/", "").replaceAll("/", "-")}.api.md`;
}

/**
 * Writes down what the entry points export, each declaration once, sorted, without its documentation; what is not exported
 * but needed to read the rest is included. Taken from the built types.
 *
 * @returns the report of each entry point, by its name
 */
export function surfaces(points: readonly EntryPoint[]): Map<string, string> {
  requireBuilt(points);
  const folder = mkdtempSync(join(tmpdir(), "bq-api-"));
  try {
    const configs = points.map((point) => configure(point, points, folder));
    const [first] = configs;
    if (first === undefined) return new Map();
    // One program for all: most of the time goes into reading the types of Node and of the drivers.
    const compilerState = CompilerState.create(first, {
      additionalEntryPoints: points.map(({ types }) => types),
    });
    return new Map(
      points.map((point, index) => [
        point.name,
        titled(
          point.name,
          report(configs[index] as ExtractorConfig, compilerState, join(folder, reportFile(point))),
        ),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(config: ExtractorConfig, compilerState: CompilerState, file: string): string {
  const complaints: string[] = [];
  const { succeeded } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback(message) {
      if (message.logLevel === "error") complaints.push(message.text);
      message.handled = true;
    },
  });
  if (!succeeded)
    throw new Error(`There is no report for ${config.mainEntryPointFilePath}: ${complaints.join("\n")}`);
  return readFileSync(file, "utf8").replaceAll("\r\n", "\n");
}

/** Under the name of the entry point, and without remarks on docstrings: a method may have those of its interface. */
function titled(name: string, report: string): string {
  const [, code = ""] = report.split("```ts\n");
  const declarations = code
    .replace(/^[ \t]*\/\/ (\(.*\)|@public.*)\n/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return `# ${name}\n\nWhat it exports. Written by \`pnpm api\`, for review: do not edit.\n\n\`\`\`ts\n${declarations.replace(/\n```$/, "").trim()}\n\`\`\`\n`;
}

function configure(point: EntryPoint, all: readonly EntryPoint[], folder: string): ExtractorConfig {
  const silent = { default: { logLevel: ExtractorLogLevel.None } };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(point.packageFolder, "package.json"),
    configObject: {
      projectFolder: point.packageFolder,
      mainEntryPointFilePath: point.types,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "ES2022",
            lib: ["ES2022", "ESNext.Disposable"],
            module: "NodeNext",
            moduleResolution: "NodeNext",
            types: ["node"],
            typeRoots: [join(workspace, "node_modules/@types")],
            strict: true,
            skipLibCheck: true,
          },
          files: all.map(({ types }) => types),
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: reportFile(point),
        reportFolder: folder,
        reportTempFolder: join(folder, "temporary"),
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      // The docstrings are judged by the reference; release tags are of no use here.
      messages: {
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      },
    },
  });
}
