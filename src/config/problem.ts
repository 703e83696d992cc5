/** What is wrong in files of configuration, or worth knowing: where, why, and what to write instead. All is told at once. */
export type ProblemCode = 'ShapeInvalid' | 'ContractVersionMismatch' | 'ConfigSchemaViolation';

/** Both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Place extends Position {
  /** As the person sees it. */
  readonly file: string;
}

/** Something that does not stop anything, and that somebody should know. */
export interface Warning extends Place {
  /** The line of the file, as it is written. */
  readonly text: string;
  readonly message: string;
  readonly fix: string;
}

export interface Problem extends Warning {
  readonly code: ProblemCode;
}

/** Tells a problem at a place of one of the files that are being read. */
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

/** A file can be wrong in every line; whoever reads the list has enough to do with the first ones. */
export const maxProblems = 100;
const maxTextChars = 200;

export const placeAt = (file: string, line = 1, column = 1): Place => ({ file, line, column });
/** As rules are referred to. */
export const refOf = ({ file, line }: Place): string => `${file}:${line}`;

/** Places as agents read them: beside the main file, so that nobody learns where the project lies. */
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
    // What an alias stands for is read once for each place it is used at.
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
