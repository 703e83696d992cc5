/**
 * Which operators and functions are ours? JSON knows one sort of number and the language two: whatever a person expects of
 * them together works here. `matches` and `join` replace those of the engine, which can hang or fill the memory;
 * `timestamp`, `int` and `double` replace those that read what is no time and no number, and the functions of cel-strings.ts those that cut through characters.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { registerStrings } from './cel-strings.ts';
import { readTimestamp, timestampFrom } from './cel-time.ts';
import { WrongValue } from './wrong-value.ts';

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

/** A text is a number as JSON and people write it: the engine's own reading takes an empty text, 0b1 and 0x10 for numbers. */
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

/** Every function of the language that stands: each takes time linear in what it is given. The rest is refused when it is read. */
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
