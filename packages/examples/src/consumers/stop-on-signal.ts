/** Ends the process in an orderly way when its supervisor asks for it: `stop` lets what is under way come to its end. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const end = () => {
    if (stopping) return;
    stopping = true;
    stop().catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    });
  };
  process.on("SIGTERM", end).on("SIGINT", end);
}
