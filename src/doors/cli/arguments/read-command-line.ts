/**
 * Parses a command line into a command, a request for help, or a sentence that says what is wrong and what was
 * probably meant. Total; loads nothing of the gateway.
 */
import { nearest } from '../../../core/values/nearest.ts';
import { callStates, type CallState } from '../../../core/taxonomy/call-states.ts';
import {
  type CommandEntry,
  type CommandName,
  commandNames,
  commands,
  type OptionEntry,
  type OptionName,
  options,
} from './commands.ts';
import { type Given, readOptions } from './read-options.ts';

export interface Command {
  readonly kind: 'run';
  readonly name: CommandName;
  /** The word after the command, such as a call id; empty if there is none. */
  readonly argument: string;
  /** All words after the command. */
  readonly words: readonly string[];
  /** The options with a value, as they were given. */
  readonly said: Readonly<Partial<Record<OptionName, string>>>;
  /** The flags that were given. */
  readonly flags: ReadonlySet<OptionName>;
  readonly json: boolean;
  readonly follow: boolean;
  readonly file: string | undefined;
  readonly config: string | undefined;
  readonly limit: number;
  readonly lines: number;
  readonly filter: {
    readonly state?: CallState;
    readonly agent?: string;
    readonly tool?: string;
    readonly session?: string;
    readonly before?: string;
  };
}

export type Asked =
  | Command
  /** `topic` is a command, the first word of several commands, or empty for all. */
  | { readonly kind: 'help'; readonly topic: string }
  | { readonly kind: 'version' }
  | { readonly kind: 'wrong'; readonly sentence: string };

const groups = [...new Set(commandNames.filter((name) => name.includes(' ')).map((name) => firstWord(name)))];
const most = 10_000;

export function readCommandLine(words: readonly string[]): Asked {
  const { given, rest, problem, unknown } = readOptions(words);
  if (rest[0] === 'help') return helpOn(rest.slice(1));
  if (rest.length === 0) {
    if (unknown !== null) return wrong(noOption(unknown, ['help', 'version']), '');
    const odd = (Object.keys(given) as OptionName[]).find((name) => name !== 'help' && name !== 'version');
    if (odd !== undefined && given.help === undefined) return wrong(`--${odd} needs a command before it`, '');
    return given.version === undefined ? { kind: 'help', topic: '' } : { kind: 'version' };
  }
  if (given.help !== undefined && rest.length === 1 && isGroup(rest[0])) return helpOn(rest);
  const found = findCommand(rest);
  if ('sentence' in found) return found;
  if (given.help !== undefined) return { kind: 'help', topic: found.name };
  if (unknown !== null) return wrong(noOption(unknown, [...commands[found.name].options, 'help']), found.name);
  if (problem !== null) return wrong(problem, found.name);
  return readCommand(found.name, found.rest, given);
}

function noOption(raw: string, known: readonly OptionName[]): string {
  const near = nearest(
    raw,
    known.map((name) => `--${name}`),
  );
  return `there is no option ${raw}${near === null ? '' : `; did you mean ${near}?`}`;
}

function findCommand(
  rest: readonly string[],
): { name: CommandName; rest: readonly string[] } | (Asked & { sentence: string }) {
  const [first = '', second] = rest;
  const two = commandNames.find((name) => name === `${first} ${second}`);
  if (two !== undefined) return { name: two, rest: rest.slice(2) };
  const one = commandNames.find((name) => name === first);
  if (one !== undefined) return { name: one, rest: rest.slice(1) };
  if (!isGroup(first)) return wrong(`there is no command '${first}'${hint(first, everyWord())}`, '');
  const usual = commandNames.find((name) => firstWord(name) === first && (commands[name] as CommandEntry).isDefault);
  if (second === undefined && usual !== undefined) return { name: usual, rest: [] };
  const parts = new Map(commandNames.filter((name) => firstWord(name) === first).map((name) => [lastWord(name), name]));
  if (second === undefined) return wrong(`'${first}' needs one more word: ${[...parts.keys()].join(' or ')}`, first);
  return wrong(`there is no command '${first} ${second}'${hint(second, parts)}`, first);
}

/** Words of commands, and the command each suggests: 'verify' alone is probably 'audit verify'. */
function everyWord(): ReadonlyMap<string, string> {
  const words = commandNames.map((name) => [lastWord(name), name] as const);
  return new Map<string, string>([...words, ...groups.map((group) => [group, group] as const)]);
}

function hint(word: string, meant: ReadonlyMap<string, string>): string {
  const near = meant.get(nearest(word, [...meant.keys()]) ?? '');
  return near === undefined ? '' : `; did you mean '${near}'?`;
}

function readCommand(name: CommandName, rest: readonly string[], given: Given): Asked {
  const problem = problemWith(name, rest, given);
  if (problem !== null) return wrong(problem, name);
  const limit = count(given.limit, 20);
  if (limit === null || limit < 1) return wrong(`--limit is a whole number from 1 to ${most}`, name);
  const lines = count(given.lines, 10);
  if (lines === null) return wrong(`--lines is a whole number from 0 to ${most}`, name);
  const state = name === 'calls ls' ? text(given.state)?.toUpperCase() : undefined;
  if (state !== undefined && !Object.hasOwn(callStates, state)) return wrong(noState(state, given), name);
  return {
    kind: 'run',
    name,
    argument: rest[0] ?? '',
    words: rest,
    said: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== true)),
    flags: new Set((Object.keys(given) as OptionName[]).filter((option) => given[option] === true)),
    json: given.json === true,
    follow: given.follow === true,
    file: text(given.file),
    config: text(given.config),
    limit,
    lines,
    filter: withoutGaps({
      state: state as CallState | undefined,
      agent: text(given.agent),
      tool: text(given.tool),
      session: text(given.session),
      before: text(given.before),
    }),
  };
}

/**
 * An option that the command does not have, a wrong number of words, or a missing option; null if there is none of
 * these.
 */
function problemWith(name: CommandName, rest: readonly string[], given: Given): string | null {
  const { argument, options: known, needs = [] }: CommandEntry = commands[name];
  const foreign = (Object.keys(given) as OptionName[]).find((option) => !known.includes(option));
  if (foreign !== undefined) return `'${name}' has no option --${foreign}`;
  if (argument === null && rest.length > 0) return `'${name}' takes nothing after it, but '${rest[0]}' is there`;
  const places = argument?.split(' ') ?? [];
  const least = places.filter((place) => !place.startsWith('[')).length;
  const isOpen = places.at(-1)?.includes('…') === true;
  if (rest.length < least || (rest.length > places.length && !isOpen)) {
    const found = ['none is there', 'one is there'][rest.length] ?? `${rest.length} are there`;
    return `'${name}' takes ${places.length === 1 ? 'one ' : ''}${argument}, but ${found}`;
  }
  const missing = needs.find((option) => given[option] === undefined);
  return missing === undefined ? null : `'${name}' needs --${missing} <${valueOf(missing)}>`;
}

function noState(state: string, given: Given): string {
  const near = nearest(state, Object.keys(callStates));
  const says = near === null ? `; there are ${Object.keys(callStates).join(', ')}` : `; did you mean ${near}?`;
  return `no call is ever in the state '${given.state}'${says}`;
}

function helpOn(words: readonly string[]): Asked {
  const topic = words.join(' ');
  if (topic === '' || isGroup(topic) || (commandNames as readonly string[]).includes(topic))
    return { kind: 'help', topic };
  const found = findCommand(words);
  return 'sentence' in found ? found : wrong(`there is no command '${topic}'`, '');
}

function wrong(problem: string, topic: string) {
  const more = `recourse ${topic === '' ? '' : `${topic} `}--help`;
  return { kind: 'wrong', sentence: `${problem}${problem.endsWith('?') ? '' : '.'} Try: ${more}` } as const;
}

function count(given: string | true | undefined, standard: number): number | null {
  if (given === undefined) return standard;
  const number = /^\d{1,5}$/.test(String(given)) ? Number(given) : null;
  return number === null || number > most ? null : number;
}

function withoutGaps<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function firstWord(name: string): string {
  return name.split(' ')[0] ?? '';
}

const valueOf = (option: OptionName): string => (options[option] as OptionEntry).value ?? '';
const lastWord = (name: string): string => name.split(' ').at(-1) ?? '';
const isGroup = (word: string | undefined): boolean => word !== undefined && groups.includes(word);
const text = (given: string | true | undefined): string | undefined => (typeof given === 'string' ? given : undefined);
