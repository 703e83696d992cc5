/**
 * Finds single-valued headers that were sent more than once. Node drops or joins the second silently, and a proxy may
 * have judged the other one.
 */
export const onceHeaders: readonly string[] = [
  'host',
  'authorization',
  'idempotency-key',
  'content-type',
  'content-length',
  'origin',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'last-event-id',
];

/** `rawHeaders` as node:http has them: names and values by turns. Null if each is there once at most. */
export function repeatedHeader(rawHeaders: readonly string[]): string | null {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (seen.has(name) && onceHeaders.includes(name)) return name;
    seen.add(name);
  }
  return null;
}
