/**
 * Reads the options of a command line. Knows the options of all commands; read-command-line.ts checks whether the
 * command has them.
 */
import { parseArgs } from 'node:util';
import { type OptionEntry, type OptionName, options } from './commands.ts';

export type Given = Partial<Record<OptionName, string | true>>;

export interface ReadOptions {
  readonly given: Given;
  /** The words that are not options, in order. */
  readonly rest: readonly string[];
  readonly problem: string | null;
  /** The first option that no command knows, as it was written. */
  readonly unknown: string | null;
}

const entries: Readonly<Record<string, OptionEntry>> = options;

const rules = Object.fromEntries(
  Object.entries(entries).map(([name, { short, value }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
  ]),
);

export function readOptions(words: readonly string[]): ReadOptions {
  const { tokens } = parseArgs({
    args: [...words],
    options: rules,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: Given = {};
  const rest: string[] = [];
  let problem: string | null = null;
  let unknown: string | null = null;
  for (const token of tokens) {
    if (token.kind === 'positional') rest.push(token.value);
    if (token.kind !== 'option') continue;
    if (Object.hasOwn(entries, token.name)) problem ??= take(token, given);
    else unknown ??= token.rawName;
  }
  return { given, rest, problem, unknown };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function take({ name, rawName, value, inlineValue }: OptionToken, given: Given): string | null {
  const entry = entries[name];
  if (entry === undefined) return null;
  if (given[name as OptionName] !== undefined) return `${rawName} is given twice`;
  if (entry.value === undefined) {
    given[name as OptionName] = true;
    return value === undefined ? null : `${rawName} takes no value`;
  }
  // A value that looks like an option was probably forgotten; --file=-x still passes one.
  if (value === undefined || value === '' || (inlineValue !== true && value.startsWith('-')))
    return `${rawName} needs a value: ${rawName} <${entry.value}>`;
  if (entry.oneOf !== undefined && !entry.oneOf.includes(value))
    return `${rawName} is ${entry.oneOf.join(' or ')}, not '${value}'`;
  given[name as OptionName] = value;
  return null;
}
