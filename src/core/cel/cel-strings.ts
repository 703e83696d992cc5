/**
 * What do the functions of text mean that the engine has otherwise? Places are counted in characters, as `size` counts them, so
 * that nothing is cut through; of letters only those of ASCII change. Each takes time linear in what it is given.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { WrongValue } from './wrong-value.ts';

export function registerStrings(environment: Environment): void {
  const register = environment.registerFunction.bind(environment);
  register('string.recourse_lowerAscii(): string', (text: string) =>
    text.replace(/[A-Z]+/g, (all) => all.toLowerCase()),
  );
  register('string.recourse_upperAscii(): string', (text: string) =>
    text.replace(/[a-z]+/g, (all) => all.toUpperCase()),
  );
  register('string.recourse_split(string): list<string>', split);
  register('string.recourse_split(string, int): list<string>', (text: string, separator: string, most: bigint) => {
    const parts = most === 0n ? [] : split(text, separator);
    if (most < 0n || parts.length <= most) return parts;
    const first = parts.slice(0, Number(most) - 1);
    return [...first, parts.slice(first.length).join(separator)];
  });
  register('string.recourse_substring(int): string', (text: string, start: bigint) =>
    text.slice(unitAt(text, start, 'substring(start, end): start')),
  );
  register('string.recourse_substring(int, int): string', (text: string, start: bigint, end: bigint) => {
    const from = unitAt(text, start, 'substring(start, end): start');
    const to = unitAt(text, end, 'substring(start, end): end');
    if (to < from) throw new WrongValue('substring(start, end): end is before start');
    return text.slice(from, to);
  });
  for (const name of ['indexOf', 'lastIndexOf'] as const) {
    register(`string.recourse_${name}(string): int`, (text: string, search: string) =>
      placeOf(text, text[name](search)),
    );
    register(`string.recourse_${name}(string, int): int`, (text: string, search: string, from: bigint) => {
      if (search === '') return from;
      const unit = unitAt(text, from, `${name}(search, from): from`);
      if (unit === text.length) throw new WrongValue(`${name}(search, from): from is out of range`);
      return placeOf(text, text[name](search, unit));
    });
  }
}

const split = (text: string, separator: string): readonly string[] =>
  separator === '' ? Array.from(text) : text.split(separator);

/** Where in the string the character of this number begins, the end included. */
function unitAt(text: string, place: bigint, what: string): number {
  let left = Number(place);
  let unit = 0;
  for (; left > 0 && unit < text.length; left--) unit += widthAt(text, unit);
  if (left !== 0) throw new WrongValue(`${what} is out of range`);
  return unit;
}

/** Which character begins here; -1 stays. */
function placeOf(text: string, end: number): bigint {
  if (end < 0) return -1n;
  let place = 0;
  for (let unit = 0; unit < end; place++) unit += widthAt(text, unit);
  return BigInt(place);
}

const widthAt = (text: string, unit: number): number => ((text.codePointAt(unit) ?? 0) > 0xff_ff ? 2 : 1);
