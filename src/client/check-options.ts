/** Checks options of the client. Unknown options are errors: a misspelt limit must not be ignored. */

/** A day. No wait of a client is longer, and timers of JavaScript go wrong beyond 24 days. */
export const maxSeconds = 86_400;

type Options = Readonly<Record<string, unknown>>;

export function mustBeOptions(what: string, options: unknown, known: readonly string[]): Options {
  if (typeof options !== 'object' || options === null) throw new TypeError(`${what} needs an object of options`);
  const stranger = Object.keys(options).find((name) => !known.includes(name));
  if (stranger !== undefined) throw new TypeError(`${what} has no option '${stranger}': there are ${known.join(', ')}`);
  return options as Options;
}

export function mustBeAmount(what: string, name: string, value: unknown, most: number): void {
  if (value === undefined || (typeof value === 'number' && value >= 0 && value <= most)) return;
  throw new TypeError(`${what}: option '${name}' must be a number from 0 to ${most}`);
}

export function mustBeText(what: string, name: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value !== '')) return;
  throw new TypeError(`${what}: option '${name}' must be a text that is not empty`);
}
