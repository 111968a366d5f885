// Runs a task of this workspace on a machine that has nothing but Node (20 or newer) and npm.
//
//   node .workspace/run.mjs demo|test|build|typecheck|lint|bench|soak|chaos|api|reference|runtimes|release [arguments]
//
// It fetches the pnpm that package.json names, installs from the lockfile, and hands over to turbo. The scripts of the
// packages then run on the Node that the workspace installs for itself (devDependency "node"), whatever the machine has.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { packageManager, engines } = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8"));
const [task, ...args] = process.argv.slice(2);

const environment = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
  npm_config_update_notifier: "false",
};

/** Runs a program to its end; resolves to its exit code and, with `quiet`, what it printed. */
function run(program, programArgs, { quiet = false, stdin = "ignore" } = {}) {
  return new Promise((done, fail) => {
    const output = quiet ? "pipe" : "inherit";
    const child = spawn(program, programArgs, {
      cwd: root,
      env: environment,
      stdio: [stdin, output, output],
      shell: process.platform === "win32",
    });
    const printed = [];
    child.stdout?.on("data", (chunk) => printed.push(chunk));
    child.stderr?.on("data", (chunk) => printed.push(chunk));
    const forward = (signal) => child.kill(signal);
    process.on("SIGINT", forward).on("SIGTERM", forward);
    child.on("error", fail);
    child.on("close", (code, signal) => {
      process.off("SIGINT", forward).off("SIGTERM", forward);
      done({ code: code ?? (signal === "SIGINT" ? 130 : 143), printed: Buffer.concat(printed).toString() });
    });
  });
}

/** A step whose output matters only when it fails. */
async function step(title, program, programArgs) {
  console.error(title);
  const { code, printed } = await run(program, programArgs, { quiet: true });
  if (code === 0) return printed;
  console.error(printed);
  console.error(`${title} failed: ${program} ${programArgs.join(" ")} (exit ${code})`);
  process.exit(code);
}

/** Fetches pnpm and puts it, and the programs of the workspace, on the PATH. npx itself must not stay as a parent: it leaves its children running after a signal. */
async function usePnpm() {
  const path = await step(`Fetching ${packageManager}`, "npx", [
    "-y",
    "-p",
    packageManager,
    "node",
    "-e",
    "console.log('PATH=' + process.env.PATH)",
  ]);
  environment.PATH = /^PATH=(.*)$/m.exec(path)?.[1] ?? environment.PATH;
}

/** Adds up what the test runner reported in every package; and names what failed, which may stand far above on the screen. */
function countTests() {
  let passed = 0;
  let failed = 0;
  const failures = [];
  for (const report of reports()) {
    const { numPassedTests, numFailedTests, numFailedTestSuites, testResults, success } = JSON.parse(
      readFileSync(report, "utf8"),
    );
    passed += numPassedTests;
    failed += numFailedTests;
    for (const { name, status, message, assertionResults } of testResults) {
      if (status !== "failed") continue;
      const file = relative(root, name);
      const tests = assertionResults.filter((test) => test.status === "failed");
      for (const { fullName, failureMessages } of tests)
        failures.push(`${file}: ${fullName}\n${firstLines(failureMessages.join("\n"))}`);
      // A file that could not even be loaded has no tests to count, and must not pass for that.
      if (tests.length > 0) continue;
      failed += 1;
      failures.push(`${file}\n${firstLines(message)}`);
    }
    if (!success && numFailedTests === 0 && numFailedTestSuites === 0) {
      failed += 1;
      failures.push(`${relative(root, report)}: the run failed, though no test did`);
    }
  }
  return { passed, failed, failures };
}

/** As much of a failure as tells what it is. */
function firstLines(message) {
  const lines = stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.includes("node_modules"));
  return lines
    .slice(0, 6)
    .map((line) => `    ${line}`)
    .join("\n");
}

function reports() {
  const folders = [
    ...readdirSync(resolve(root, "packages")).map((name) => `packages/${name}`),
    "conformance",
  ];
  return folders
    .map((folder) => resolve(root, folder, "reports/vitest.json"))
    .filter((file) => {
      try {
        readFileSync(file);
        return true;
      } catch {
        return false;
      }
    });
}

const turbo = (...turboArgs) => run("pnpm", ["exec", "turbo", "run", ...turboArgs, "--output-logs=new-only"]);

/** Builds what a private package measures, and runs its command of the same name. */
async function measure(name) {
  await step("Building", "pnpm", ["exec", "turbo", "run", "build", `--filter=@bq/idempotency-${name}...`]);
  const command = resolve(root, `packages/${name}/src/${name}.ts`);
  return (await run(resolve(root, "node_modules/node/bin/node"), [command, ...args])).code;
}

/** Builds everything, and runs a program of a private package on what was built. */
async function afterBuild(path) {
  await step("Building", "pnpm", ["exec", "turbo", "run", "build"]);
  return (await run(resolve(root, "node_modules/node/bin/node"), [resolve(root, path), ...args])).code;
}

/** What no package lints: the files of the root, and what nothing in the whole workspace uses. */
async function lintRoot() {
  const files = readdirSync(root).filter((name) => /\.(json|ts|mjs)$/.test(name));
  const biome = ["exec", "biome", "check", "--error-on-warnings", ".workspace", ...files];
  const linted = await run("pnpm", biome);
  // One set of patterns serves all packages; that some match nothing in one of them is no hint.
  const unused = await run("pnpm", ["exec", "knip", "--no-progress", "--no-config-hints"]);
  return linted.code || unused.code;
}

const tasks = {
  async test(testArgs = args) {
    for (const report of reports()) rmSync(report);
    const built = await turbo("build");
    if (built.code !== 0) return built.code;
    // One package at a time: the tests start servers and measure time, and must not fight over the machine.
    const tested = await turbo("test", "--concurrency=1", "--continue", ...testArgs);
    const checked = await turbo("typecheck", "lint", "--continue");
    const lintedRoot = await lintRoot();
    const { passed, failed, failures } = countTests();
    for (const failure of failures) console.log(`Failed: ${failure}`);
    // The last line counts tests alone.
    if (lintedRoot !== 0) console.log("The lint of the workspace's own files failed: see above.");
    if (checked.code !== 0) console.log("The types or the lint of a package failed: see above.");
    console.log(`${passed} passed, ${failed} failed`);
    return tested.code || checked.code || lintedRoot || (failed > 0 || passed === 0 ? 1 : 0);
  },
  async demo() {
    await step("Building", "pnpm", ["exec", "turbo", "run", "build", "--filter=@bq/idempotency-examples..."]);
    // Without pnpm, which would replace INIT_CWD, the folder in which the user typed the name of a log; and without the shell
    // script in .bin, which a signal ends while its child runs on.
    const demo = resolve(root, "packages/examples/src/demo/demo.ts");
    return (await run(resolve(root, "node_modules/node/bin/node"), [demo, ...args], { stdin: "inherit" }))
      .code;
  },
  bench: () => measure("bench"),
  soak: () => measure("soak"),
  chaos: () => measure("chaos"),
  api: () => afterBuild("packages/api/src/report.ts"),
  reference: () => afterBuild("packages/api/src/reference.ts"),
  runtimes: () => afterBuild("packages/packaging/src/runtimes/runtimes.ts"),
  async release() {
    // Without arguments it only shows what would be released.
    const code = args.includes("--publish") ? await tasks.test([]) : 0;
    return code || afterBuild("packages/packaging/src/release/release.ts");
  },
  build: async () => (await turbo("build", ...args)).code,
  typecheck: async () => (await turbo("typecheck", ...args)).code,
  lint: async () => (await turbo("lint", ...args)).code || lintRoot(),
};

if (!Object.hasOwn(tasks, task ?? "")) {
  console.error(`Unknown task ${JSON.stringify(task ?? "")}. Tasks: ${Object.keys(tasks).join(", ")}.`);
  process.exit(2);
}
if (Number(process.versions.node.split(".")[0]) < 20) {
  console.error(`Node ${process.version} is too old: this workspace needs ${engines.node}.`);
  process.exit(2);
}
await usePnpm();
await step("Installing", "pnpm", ["install", "--frozen-lockfile"]);
process.exit(await tasks[task]());
