/** What is wrong in a file of configuration: where, why, and what to write instead. All of them are told at once. */
export type ProblemCode = 'ShapeInvalid' | 'ContractVersionMismatch' | 'ConfigSchemaViolation';

/** Both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Place {
  readonly code: ProblemCode;
  readonly file: string;
  /** The line of the file, as it is written. */
  readonly text: string;
  readonly message: string;
  readonly fix: string;
}

/** Tells a problem at a place of the file that is being read. */
export type Tell = (place: Place, message: string, fix: string, code?: ProblemCode) => void;

export interface ProblemList {
  readonly problems: readonly Problem[];
  readonly tell: Tell;
}

/** A file can be wrong in every line; whoever reads the list has enough to do with the first ones. */
export const maxProblems = 100;
const maxTextChars = 200;

export function createProblemList(file: string, source: string): ProblemList {
  const lines = source.split(/\r\n|\n|\r/);
  const problems: Problem[] = [];
  const told = new Set<string>();
  const tell: Tell = ({ line, column }, message, fix, code = 'ConfigSchemaViolation') => {
    // What an alias stands for is read once for each place it is used at.
    const same = `${line}:${column} ${message}`;
    if (told.has(same) || problems.length >= maxProblems) return;
    told.add(same);
    const text = (lines[line - 1] ?? '').slice(0, maxTextChars);
    problems.push({ code, file, line, column, text, message, fix });
  };
  return { problems, tell };
}

export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}
