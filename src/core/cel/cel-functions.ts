/**
 * The operators and functions that we add to CEL or replace. Ints and doubles mix freely, because JSON has one number
 * type. Replacements are bounded (`matches`, `join`), strict (`timestamp`, `int`, `double`) or safe for Unicode
 * (string functions).
 */
import type { Environment } from '@marcbachmann/cel-js';
import { readTimestamp, timestampFrom } from './cel-time.ts';

type Amount = number | bigint;

const arithmetic: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / divisor(right, 'division'),
  '%': (left, right) => left % divisor(right, 'modulo'),
};

/** As between whole numbers: what comes of it is no number that could be compared. */
function divisor(value: number, what: string): number {
  if (value === 0) throw new WrongValue(`${what} by zero`);
  return value;
}

export function registerNumbers(environment: Environment): void {
  for (const [sign, act] of Object.entries(arithmetic)) {
    const handler = (left: Amount, right: Amount) => act(Number(left), Number(right));
    environment.registerOperator(`double ${sign} int: double`, handler);
    environment.registerOperator(`int ${sign} double: double`, handler);
    // The others exist already between doubles.
    if (sign === '%') environment.registerOperator('double % double: double', handler);
  }
  environment.registerOperator('int == double', equalAmounts);
}

/** Exact: a whole number that a double cannot hold equals none. */
function equalAmounts(left: Amount, right: Amount): boolean {
  // oxlint-disable-next-line eqeqeq -- the only comparison that knows both sorts
  return left == right;
}

/** Only where types are checked: at run time the engine's own `in` sees values, and these two would be in its way. */
export function registerMixedMembership(environment: Environment): void {
  const never = () => false;
  environment.registerOperator('double in list<int>', never);
  environment.registerOperator('int in list<double>', never);
}

/** The names under which the engine finds ours; nobody writes them. */
export const replacements: Readonly<Record<string, string>> = {
  int: 'recourse_int',
  double: 'recourse_double',
  matches: 'recourse_matches',
  join: 'recourse_join',
  timestamp: 'recourse_timestamp',
  lowerAscii: 'recourse_lowerAscii',
  upperAscii: 'recourse_upperAscii',
  split: 'recourse_split',
  substring: 'recourse_substring',
  indexOf: 'recourse_indexOf',
  lastIndexOf: 'recourse_lastIndexOf',
};

/** What the engine calls moments and the time between two. */
export const timestampType = 'google.protobuf.Timestamp';

export interface FunctionParts {
  readonly charge: (steps: number) => void;
  readonly matches: (text: string, pattern: string) => boolean;
}

export function registerFunctions(environment: Environment, { charge, matches }: FunctionParts): void {
  const join = (list: readonly unknown[], separator: string): string => {
    let chars = 0;
    for (const each of list) {
      if (typeof each !== 'string') throw new WrongValue('join: every item of the list must be a text');
      chars += each.length + separator.length;
    }
    charge(Math.ceil(chars / 64));
    return list.join(separator);
  };
  registerStrings(environment);
  registerConversions(environment);
  environment.registerFunction('string.recourse_matches(string): bool', matches);
  environment.registerFunction('list.recourse_join(): string', (list: readonly unknown[]) => join(list, ''));
  environment.registerFunction('list.recourse_join(string): string', join);
  environment.registerFunction(`recourse_timestamp(string): ${timestampType}`, (text: string) =>
    moment(readTimestamp(text)),
  );
  environment.registerFunction(`recourse_timestamp(int): ${timestampType}`, (seconds: bigint) =>
    moment(Number(seconds) * 1_000),
  );
}

const maxNumberChars = 40;

/**
 * A text is a number as JSON and people write it: the engine's own reading takes an empty text, 0b1 and 0x10 for
 * numbers.
 */
function registerConversions(environment: Environment): void {
  const register = environment.registerFunction.bind(environment);
  const read = (text: string, form: RegExp, what: string): string => {
    if (text.length <= maxNumberChars && form.test(text)) return text;
    throw new WrongValue(`${what}(): the text is not a ${what === 'int' ? 'whole ' : ''}number in decimal digits`);
  };
  register('recourse_int(int): int', (value: bigint) => value);
  register('recourse_int(double): int', (value: number) => BigInt(Math.trunc(value)));
  register('recourse_int(string): int', (text: string) => BigInt(read(text, /^[+-]?\d+$/, 'int')));
  register('recourse_double(double): double', (value: number) => value);
  register('recourse_double(int): double', Number);
  register('recourse_double(string): double', (text: string) =>
    Number(read(text, /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/, 'double')),
  );
}

export const noTimestamp = 'timestamp: write a time with its offset, such as 2027-01-01T00:00:00Z';

function moment(ms: number | null): object {
  const made = ms === null ? null : timestampFrom(ms);
  if (made === null) throw new WrongValue(noTimestamp);
  return made;
}

/** In UTC: with a time zone they would depend on the machine, and so would the day of the year. */
export const partsOfTime: readonly string[] = [
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getFullYear',
  'getHours',
  'getMilliseconds',
  'getMinutes',
  'getMonth',
  'getSeconds',
];

/**
 * Every function of the language that stands: each takes time linear in what it is given. The rest is refused when it
 * is read.
 */
export const knownFunctions: ReadonlySet<string> = new Set([
  'bool',
  'contains',
  'double',
  'dyn',
  'endsWith',
  'indexOf',
  'int',
  'join',
  'lastIndexOf',
  'lowerAscii',
  'matches',
  'size',
  'split',
  'startsWith',
  'string',
  'substring',
  'trim',
  'upperAscii',
  'timestamp',
  ...partsOfTime,
]);

/** Loops over a list or over the keys of a map; the first argument names the item. */
export const loops: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);

function registerStrings(environment: Environment): void {
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

export class WrongValue extends Error {
  override name = 'EvaluationError';
  readonly summary: string;

  constructor(summary: string) {
    super(summary);
    this.summary = summary;
  }
}
