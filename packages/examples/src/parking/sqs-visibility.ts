/**
 * Hides a received message again and again while it is being processed, so that its visibility timeout need not cover the
 * slowest handler. SQS ends that after twelve hours.
 *
 * @returns ends it; resolves when no request is under way that could still put off the message
 */
export function keepHidden(
  hide: (seconds: number) => Promise<unknown>,
  timeoutS: number,
): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  const beat = () => {
    // A beat that fails is followed by another one before the timeout is over.
    last = hide(timeoutS).catch(() => {});
  };
  const timer = setInterval(beat, (timeoutS * 1_000) / 3);
  return async () => {
    clearInterval(timer);
    await last;
  };
}
