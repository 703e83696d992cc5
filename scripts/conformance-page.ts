/**
 * Writes docs/conformance.md: each stated behaviour with its source, where it works, what differs, and the tests that
 * claim it. Made of the requirements and of the titles of tests.
 */
import path from 'node:path';
import { requirements, type Requirement } from '../test/conformance/requirements.ts';
import { pending } from '../test/conformance/stated/pending.ts';
import { readCitations } from '../test/conformance/stated/read-citations.ts';

const mark = '<!-- Generated from test/conformance by scripts/generate.ts. Edits here are lost. -->';
const maxTests = 3;

const titles: Readonly<Record<string, string>> = {
  C: 'The contract',
  S000: 'Seed 000: refusals of a step',
  S001: 'Seed 001: failures by class and code',
  S002: 'Seed 002: denials',
  S003: 'Seed 003: verdicts and compensations',
};

export function conformancePage(root: string): string {
  const tests = testsById(root);
  const parts = Object.entries(titles).flatMap(([prefix, title]) => {
    const own = requirements.filter(({ id }) => id.startsWith(prefix)).toSorted(byId);
    return [`## ${title}`, '', ...table(own, tests), ''];
  });
  const absent = requirements.filter((each) => each.absent !== null);
  const intro = [
    mark,
    '# Conformance',
    '',
    'What the contract and the four documents behind it state, in our words: where it works, what shows it, and what we',
    'do otherwise. A test has the id in its title; `npm test` fails if one is missing. Of several tests the first',
    'few are named.',
    '',
    `${requirements.length} sentences: ${requirements.length - absent.length - pending.length} with a test, ${absent.length} absent.`,
    '',
  ];
  return [...intro, ...parts].join('\n').replace(/\n+$/, '\n');
}

function table(own: readonly Requirement[], tests: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const rows = own.map(({ id, source, says, where, differs, absent }) => {
    const link = `[${where}](${path.posix.relative('docs', where)})`;
    const shown = absent === null ? shownBy(tests.get(id) ?? []) : `absent: ${absent}`;
    return [id, source, says, absent === null ? link : '', shown, differs ?? ''];
  });
  const head = ['id', 'source', 'what is stated', 'where', 'test', 'what differs, and why'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`);
}

function shownBy(tests: readonly string[]): string {
  const more = tests.length > maxTests ? ` and ${tests.length - maxTests} more` : '';
  return `${tests.slice(0, maxTests).join('; ')}${more}`;
}

/** `file: title`, without the ids. */
function testsById(root: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { file, title, ids } of readCitations(root)) {
    const told = `${file}: ${title.replaceAll(/\[[^\]]+\] ?/g, '').trim()}`;
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), told]);
  }
  return found;
}

/** By the parts of an id, its number as a number. */
function byId({ id: one }: Requirement, { id: other }: Requirement): number {
  const [first = '', topic = '', number = ''] = one.split('-');
  const [otherFirst = '', otherTopic = '', otherNumber = ''] = other.split('-');
  if (first !== otherFirst) return first < otherFirst ? -1 : 1;
  if (topic !== otherTopic) return topic < otherTopic ? -1 : 1;
  return Number(number) - Number(otherNumber);
}

const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\\`', '`').replaceAll('\n', ' ');
