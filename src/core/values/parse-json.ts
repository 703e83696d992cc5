/**
 * JSON, with every number as it was sent. An integer that a number cannot hold comes as a bigint, which is no JSON to anything
 * behind: it is refused where it stands instead of becoming another one. Throws as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  return isSuspect(text) ? (JSON.parse(text, keepInteger) as unknown) : (JSON.parse(text) as unknown);
}

/** Whether there may be such a number at all: nearly every text is done with after this look. */
const isSuspect = (text: string): boolean => /\d{16}/.test(text);

/** For messages of which only a part is ours to judge: `keep` puts that part, as it was sent, into each; a list holds several. */
export function parseMessages(text: string, keep: (message: unknown, exact: unknown) => unknown): unknown {
  const message: unknown = JSON.parse(text);
  if (!isSuspect(text)) return message;
  const exact = parseExactly(text);
  return Array.isArray(message)
    ? message.map((one, at) => keep(one, (exact as readonly unknown[])[at]))
    : keep(message, exact);
}

interface Source {
  readonly source?: string;
}

function keepInteger(this: unknown, _key: string, value: unknown, context?: Source): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
