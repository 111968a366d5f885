// The subjects of the contract suite that the command line names. Copied, like all files beside it, into the project of the run.
const modules = await Promise.all(process.argv.slice(2).map((name) => import(`./${name}.mjs`)));

/** Several runtimes may be at it on a small machine. */
const deadlineMs = 180_000;

export const chosen = modules.map(({ subject }) => ({ ...subject, deadlineMs }));

export const endAll = () => Promise.all(modules.map(({ end }) => end?.()));
