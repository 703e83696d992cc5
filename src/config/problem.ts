/**
 * Problems and warnings of configuration files: place, message and fix, collected so that all are reported at once.
 */
import type { ExtensionCode } from '../core/extension/extension-shape.ts';

export type ProblemCode = ExtensionCode | 'ConfigSchemaViolation';

/** Both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Place extends Position {
  /** For display. */
  readonly file: string;
}

/** A warning: it stops nothing. */
export interface Warning extends Place {
  /** The line of the file, as it is written. */
  readonly text: string;
  readonly message: string;
  readonly fix: string;
}

export interface Problem extends Warning {
  readonly code: ProblemCode;
}

/** Reports a problem at a place in one of the files. */
export type Tell = (place: Place, message: string, fix: string, code?: ProblemCode) => void;
export type Warn = (place: Place, message: string, fix: string) => void;

export interface ProblemList {
  readonly tell: Tell;
  readonly warn: Warn;
  /** Another file whose lines can be shown. */
  readonly addSource: (file: string, text: string) => void;
  /** By file, in the order in which these came, then by place. */
  readonly problems: () => readonly Problem[];
  readonly warnings: () => readonly Warning[];
}

/** A file can be wrong in every line; only the first problems are kept. */
export const maxProblems = 100;
const maxTextChars = 200;

export const placeAt = (file: string, line = 1, column = 1): Place => ({ file, line, column });
/** As rules are referred to. */
export const refOf = ({ file, line }: Place): string => `${file}:${line}`;

/** Places as agents see them: relative to the main file, without the path of the project. */
export function refsBeside(main: string): (place: Place) => string {
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  return (place) =>
    refOf({ ...place, file: place.file.startsWith(folder) ? place.file.slice(folder.length) : place.file });
}

export function createProblemList(file: string, source: string): ProblemList {
  const sources = new Map<string, readonly string[]>();
  const addSource = (name: string, text: string) => void sources.set(name, text.split(/\r?\n/));
  addSource(file, source);
  const order = (name: string) => [...sources.keys()].indexOf(name);
  const textAt = (place: Place) => (sources.get(place.file)?.[place.line - 1] ?? '').slice(0, maxTextChars);
  const problems = createList<Problem>(order, 'problems');
  const warnings = createList<Warning>(order, 'warnings');
  return {
    tell: ({ file: name, line, column }, message, fix, code = 'ConfigSchemaViolation') => {
      const text = textAt({ file: name, line, column });
      problems.add({ code, file: name, line, column, text, message, fix });
    },
    warn: ({ file: name, line, column }, message, fix) => {
      const text = textAt({ file: name, line, column });
      warnings.add({ file: name, line, column, text, message, fix });
    },
    addSource,
    problems: problems.all,
    warnings: warnings.all,
  };
}

function createList<Entry extends Warning>(order: (file: string) => number, what: string) {
  const entries: Entry[] = [];
  const told = new Set<string>();
  let further: Entry | null = null;
  let furtherCount = 0;
  const add = (entry: Entry): void => {
    const { file, line, column, message } = entry;
    // The target of an alias is read once for each use.
    const same = `${file}:${line}:${column} ${message}`;
    if (told.has(same)) return;
    if (entries.length < maxProblems) {
      told.add(same);
      entries.push(entry);
      return;
    }
    further ??= entry;
    furtherCount += 1;
  };
  const all = (): readonly Entry[] => {
    const sorted = entries.toSorted((a, b) => order(a.file) - order(b.file) || a.line - b.line || a.column - b.column);
    if (further === null) return sorted;
    const message = `${furtherCount} more ${what}, of which this is one: ${further.message}`;
    return [...sorted, { ...further, message }];
  };
  return { add, all };
}
