/**
 * Tells when the process that started this one is gone. A package manager starts commands through a shell, which does
 * not pass a signal on: who ends npm would leave the demo running.
 */
const lookEveryMs = 500;

/** Only under a package manager; otherwise the parent may go as it likes. Returns how to stop looking. */
export function watchParent(onGone: () => void): () => void {
  if (process.env['npm_config_user_agent'] === undefined) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) onGone();
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
