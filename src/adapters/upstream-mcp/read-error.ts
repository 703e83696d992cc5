/** What can be told of an error of the SDK's or of the network's? Messages go to the audit; decisions rest on codes. */
const maxChain = 8;

export interface SystemFault {
  readonly code: string;
  /** What was being done; null if nobody says. */
  readonly syscall: string | null;
}

/** Codes of the SDK name its own doings, not what happened on the network. */
const systemCode = /^(?:E[A-Z0-9]+|EAI_\w+|ERR_(?:TLS|SSL)_\w+|UND_ERR_\w+|CERT_\w+|DEPTH_\w+|SELF_\w+|UNABLE_\w+)$/;

/** The system's faults in an error and in everything that caused it; several when every address of a host was tried. */
export function faultsIn(error: unknown): readonly SystemFault[] {
  return chain(error).flatMap((link) => {
    const gathered = link['errors'];
    const all: readonly unknown[] =
      Array.isArray(gathered) && gathered.length > 0 ? gathered.slice(0, maxChain) : [link];
    return all.map(faultIn).filter((fault) => fault !== null);
  });
}

export function messageIn(error: unknown, maxChars: number): string {
  const lines = chain(error).map((link) => `${String(link['name'])}: ${String(link['message'])}`);
  return (lines.length === 0 ? String(error) : lines.join('\ncaused by: ')).slice(0, maxChars).toWellFormed();
}

function faultIn(value: unknown): SystemFault | null {
  if (typeof value !== 'object' || value === null) return null;
  const { code, syscall } = value as { code?: unknown; syscall?: unknown };
  if (typeof code !== 'string' || !systemCode.test(code)) return null;
  return { code, syscall: typeof syscall === 'string' ? syscall : null };
}

function chain(error: unknown): readonly Readonly<Record<string, unknown>>[] {
  const links: Record<string, unknown>[] = [];
  let next = error;
  while (typeof next === 'object' && next !== null && links.length < maxChain) {
    const link = next as Record<string, unknown>;
    links.push(link);
    next = link['cause'];
  }
  return links;
}
