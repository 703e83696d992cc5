/**
 * JSON, with every number as it was sent. An integer that a number cannot hold comes as a bigint, which is no JSON to anything
 * behind: it is refused where it stands instead of becoming another one. Throws as JSON.parse does.
 */
export function parseExactly(text: string): unknown {
  return isSuspect(text) ? (JSON.parse(text, keepInteger) as unknown) : (JSON.parse(text) as unknown);
}

/** Whether there may be such a number at all: nearly every text is done with after this look. */
export const isSuspect = (text: string): boolean => /\d{16}/.test(text);

interface Source {
  readonly source?: string;
}

function keepInteger(this: unknown, _key: string, value: unknown, context?: Source): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
