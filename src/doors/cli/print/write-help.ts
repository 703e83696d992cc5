/** Writes the help from the tables of commands and exit codes. Loads nothing of the gateway. */
import {
  type CommandEntry,
  type CommandName,
  commandNames,
  commands,
  type OptionEntry,
  options,
} from '../arguments/commands.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Paint } from '../terminal.ts';

type Row = readonly [left: string, right: string];

const motto = 'every tool call of an agent gets one typed outcome, with the next move attached';

/** `topic` as read-command-line.ts gives it. */
export function writeHelp(topic: string, paint: Paint): string {
  const entry = (commands as Readonly<Record<string, CommandEntry>>)[topic];
  if (entry !== undefined) return helpOfCommand(topic, entry, paint);
  const names = commandNames.filter((name) => topic === '' || name.startsWith(`${topic} `));
  return topic === '' ? helpOfAll(names, paint) : helpOfGroup(topic, names, paint);
}

function helpOfAll(names: readonly CommandName[], paint: Paint): string {
  const groups = [...new Set(names.map((name) => commands[name].group))];
  const width = Math.max(...names.map((name) => name.length));
  return page([
    `${paint('bold', 'recourse')}: ${motto}`,
    section('Usage', ['recourse <command> [options]'], paint),
    ...groups.map((group) => {
      const rows = names
        .filter((name) => commands[name].group === group)
        .map((name) => [name, commands[name].says] as const);
      return section(group, columns(rows, paint, width), paint);
    }),
    section(
      'Options',
      columns(
        (['file', 'json', 'help', 'version'] as const).map((name) => optionRow(name)),
        paint,
      ),
      paint,
    ),
    section(
      'Examples',
      columns(
        [
          ['recourse demo', 'start here: agents at work behind a gateway, in a browser'],
          ['recourse calls ls --state IN_DOUBT', 'what may or may not have happened'],
          ['recourse audit verify && echo holds', 'for a nightly job'],
        ],
        paint,
      ),
      paint,
    ),
    section(
      'Exit codes',
      columns(
        Object.values(exitCodes).map(({ code, says }) => [String(code), says]),
        paint,
      ),
      paint,
    ),
    section(
      'Read on',
      columns(
        [
          ['recourse <command> --help', 'each command by itself'],
          ['docs/guides/cli.md', 'in the source: the output for programs, field by field'],
          ['docs/codes/README.md', 'in the source: every code a reply can carry, and what to do about it'],
        ],
        paint,
      ),
      paint,
    ),
  ]);
}

function helpOfGroup(group: string, names: readonly CommandName[], paint: Paint): string {
  const rows = names.map((name) => [`recourse ${name}`, commands[name].says] as const);
  return page([
    `${paint('bold', `recourse ${group}`)}: ${names.length} commands`,
    section('Usage', columns(rows, paint), paint),
    section('Read on', [`recourse ${names[0]} --help`], paint),
  ]);
}

function helpOfCommand(name: string, entry: CommandEntry, paint: Paint): string {
  const places = entry.argument?.split(' ') ?? [];
  const argument = places.map((place) => (place.startsWith('[') ? ` ${place}` : ` <${place}>`));
  const needs = (entry.needs ?? []).map((option) => ` --${option} <${(options[option] as OptionEntry).value ?? ''}>`);
  const wanted = [...entry.options, 'help'] as const;
  const codes = Object.values(exitCodes).flatMap(({ code, says }): Row[] => {
    if (code !== exitCodes.no.code) return [[String(code), says]];
    return entry.no === null ? [] : [[String(code), entry.no]];
  });
  return page([
    `${paint('bold', `recourse ${name}`)}: ${entry.says}`,
    entry.more.map((line) => `  ${line}`).join('\n'),
    section('Usage', [`recourse ${name}${[...argument, ...needs].join('')} [options]`], paint),
    section(
      'Options',
      columns(
        wanted.map((each) => optionRow(each, entry.means?.[each])),
        paint,
      ),
      paint,
    ),
    section('Examples', columns(entry.examples, paint), paint),
    section('Exit codes', columns(codes, paint), paint),
    section(
      'Read on',
      columns(
        [
          ['recourse --help', 'all commands'],
          ['docs/guides/cli.md', 'in the source: examples and output'],
        ],
        paint,
      ),
      paint,
    ),
  ]);
}

function optionRow(name: keyof typeof options, means?: string): Row {
  const { short, value, says }: OptionEntry = options[name];
  const left = short === undefined ? '    ' : `-${short}, `;
  return [`${left}--${name}${value === undefined ? '' : ` <${value}>`}`, means ?? says];
}

function columns(rows: readonly Row[], paint: Paint, least = 0): readonly string[] {
  const width = Math.max(least, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${paint('cyan', left)}${' '.repeat(width - left.length)}  ${right}`);
}

const section = (title: string, lines: readonly string[], paint: Paint): string =>
  [paint('bold', title), ...lines.map((line) => `  ${line}`)].join('\n');

const page = (parts: readonly string[]): string => `${parts.join('\n\n')}\n`;
