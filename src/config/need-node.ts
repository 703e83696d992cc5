/** Is this Node new enough? Imported before everything else, so that an old one says what it needs and nothing stranger. */
const required = 24;

export function needNode(version: string): void {
  if (Number(version.split('.')[0]) >= required) return;
  throw new Error(`recourse-gateway needs Node ${required} or newer and this is v${version}: install a newer Node`);
}

needNode(process.versions.node);
