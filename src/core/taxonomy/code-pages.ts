/** Writes the documentation page of each code as Markdown. scripts/generate.ts writes the files. */
import { statusesOf } from '../http/http-status.ts';
import { classify } from '../recovery/classify.ts';
import {
  codes,
  type Entry,
  type ErrorCode,
  type ErrorKind,
  type ErrorName,
  errors,
  type ErrorSubject,
  kinds,
  taxonomy,
} from '../taxonomy.ts';

export const generatedMark = '<!-- Generated from src/core/taxonomy by scripts/generate.ts. Edits here are lost. -->';

/** Where one code has two statuses in one kind of reply: when is it which? */
const whichStatus: Readonly<Record<string, string>> = {
  'validation_failed InputInvalid': '400 when the call could not be read at all',
  'action_error ResourceBusy':
    '503 when the resolution is retry_after, as for a tool that rests after repeated failures',
};

/** `emittedBy` completes the sentence "It is emitted by …"; `files` build it. */
export function codePage(code: ErrorCode, emittedBy: string, files: readonly string[]): string {
  const entry = codes[code];
  const reported = kindsOf(code);
  const facts = [
    ['class', `[${entry.class}](README.md#classes)`],
    ['reply and HTTP status', repliesOf(code)],
    ['resolution types', entry.resolutions.map(word).join(', ')],
    ['emitted by', emittedBy],
    ['built in', files.map(word).join(', ')],
    ...(reported.length > 0 ? [['reported by adapters as', reported.map(word).join(', ')]] : []),
  ];
  return lines([
    generatedMark,
    `# ${code}`,
    '',
    `**${entry.title}.** ${entry.meaning}`,
    '',
    '## What the agent should do',
    '',
    entry.agent,
    '',
    '## What the operator should do',
    '',
    entry.operator,
    '',
    '## Particulars',
    '',
    ...table(['', ''], facts),
    '',
    'All codes: [index](README.md).',
  ]);
}

export function codesIndex(): string {
  const codeRows = Object.entries(codes).map(([code, entry]) => [`[${code}](${code}.md)`, entry.class, entry.meaning]);
  const errorRows = Object.entries(errors).map(([name, entry]) => [word(name), entry.meaning, entry.http.join(', ')]);
  const kindRows = Object.entries(kinds).map(([kind, entry]) => [
    word(kind),
    entry.subjects.map(word).join(', ') || 'none',
    entry.meaning,
  ]);
  return lines([
    generatedMark,
    '# Codes',
    '',
    'Every name a reply can carry, and what it asks of you. The page of a code says what to do.',
    '',
    ...section('Errors', ['error', 'meaning', 'HTTP status'], errorRows),
    ...section('Classes', ['class', 'meaning', 'for the operator'], entryRows(taxonomy.classes)),
    ...section('Codes by class', ['code', 'class', 'meaning'], codeRows),
    ...section('Kinds', ['kind', 'subjects', 'meaning'], kindRows),
    ...section('Verdicts', ['verdict', 'meaning', 'for the operator'], entryRows(taxonomy.verdicts)),
    ...section('Resolution types', ['type', 'fields', 'for the agent'], resolutionRows()),
  ]).replace(/\n+$/, '\n');
}

function repliesOf(code: ErrorCode): string {
  const names = Object.keys(errors) as ErrorName[];
  const replies = names.flatMap((name) => {
    const statuses = statusesOf(name, code);
    if (statuses.length === 0) return [];
    const when = whichStatus[`${name} ${code}`];
    return [`${word(name)} ${statuses[0]}${when === undefined ? '' : `, or ${when}`}`];
  });
  return replies.length === 0 ? 'a notice beside any reply' : replies.join('; ');
}

/** The kinds, with their subjects, that classify gives this code. */
function kindsOf(code: ErrorCode): readonly string[] {
  return (Object.keys(kinds) as ErrorKind[]).flatMap((kind) => {
    const subjects: readonly (ErrorSubject | undefined)[] = [undefined, ...kinds[kind].subjects];
    return subjects
      .filter((subject) => classify(kind, subject, 'plain').code === code)
      .map((subject) => (subject === undefined ? kind : `${kind} ${subject}`));
  });
}

function resolutionRows(): readonly (readonly string[])[] {
  return Object.entries(taxonomy.resolutions).map(([type, entry]) => [
    word(type),
    Object.keys(entry.fields).map(word).join(', ') || 'none',
    entry.agent,
  ]);
}

function entryRows(list: Readonly<Record<string, Entry>>): readonly (readonly string[])[] {
  return Object.entries(list).map(([name, entry]) => [word(name), entry.meaning, entry.operator]);
}

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [`## ${title}`, '', ...table(head, rows), ''];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function word(name: string): string {
  return `\`${name}\``;
}

function lines(parts: readonly string[]): string {
  return `${parts.join('\n')}\n`;
}
