/** Checks the version of Node. Imported first, so that an old version gives a clear message. */
const required = 24;

export function needNode(version: string): void {
  if (Number(version.split('.')[0]) >= required) return;
  throw new Error(`recourse-gateway needs Node ${required} or newer and this is v${version}: install a newer Node`);
}

needNode(process.versions.node);
