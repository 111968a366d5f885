import { fileURLToPath } from "node:url";
import { publishedOf } from "@bq/idempotency-packaging/workspace";
import { Application, Converter, Logger, LogLevel, type ProjectReflection, ReflectionKind } from "typedoc";
import { entryPoints } from "./entry-points.ts";

/** The public surface as its docstrings tell it. */
export interface Reference {
  /** What is undocumented, and each link that leads nowhere. Empty when all is well. */
  readonly warnings: readonly string[];
  /** Writes it as HTML pages. */
  write(folder: string): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

class WarningCollector extends Logger {
  readonly warnings: string[] = [];

  override log(message: string, level: LogLevel): void {
    if (level >= LogLevel.Warn && !isDescribedElsewhere(message)) this.warnings.push(message);
  }
}

/**
 * Members of a type without a name, such as the variants of a union, are described where the type is; and the `name` of an
 * error is what it is everywhere.
 */
function isDescribedElsewhere(message: string): boolean {
  return /(\.__type\.|Error\.name \(Property\)).*does not have any documentation$/.test(message);
}

/** Reads the docstrings of all entry points. Everything that users can name must have one, and every link lead somewhere. */
export async function readReference(): Promise<Reference> {
  const points = entryPoints();
  const app = await Application.bootstrap({
    entryPoints: points.map(({ source }) => source),
    tsconfig: here("../tsconfig.reference.json"),
    name: "BabelQueue idempotency for Node",
    readme: here("../front-page.md"),
    // There is no one place where the sources can be seen.
    disableSources: true,
    excludePrivate: true,
    packagesRequiringDocumentation: publishedOf().map(({ manifest }) => manifest.name),
    validation: {
      notExported: true,
      invalidLink: true,
      invalidPath: true,
      rewrittenLink: true,
      notDocumented: true,
    },
  });
  const logger = new WarningCollector();
  app.logger = logger;
  nameModules(app, new Map(points.map(({ source, name }) => [source, name])));
  const project = await app.convert();
  if (project === undefined) throw new Error(`The sources could not be read: ${logger.warnings.join("\n")}`);
  app.validate(project);
  return {
    warnings: logger.warnings,
    write: (folder) => write(app, project, folder),
  };
}

/** An entry point is called what stands in an import, not what its file is called. */
function nameModules(app: Application, names: ReadonlyMap<string, string>): void {
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return;
    const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile().fileName;
    reflection.name = names.get(file ?? "") ?? reflection.name;
  });
}

async function write(app: Application, project: ProjectReflection, folder: string): Promise<void> {
  await app.generateDocs(project, folder);
}
