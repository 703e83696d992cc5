/** Reads which tests cite which requirement, from their titles. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Citation {
  /** From the project's root. */
  readonly file: string;
  readonly title: string;
  readonly ids: readonly string[];
}

/** `C6-approval-1` is of section 6 of the contract, `S002-deny-1` of seed 002. */
export const idPattern = /\b(?:C[1-9]|S\d{3})-[a-z]+-[1-9]\d*\b/;

const titlePattern = /\btest\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;

/** Tests of a real project, and no others: what `test/peers` installs has its own. */
const roots = ['test', 'src'];

/** Every test that stands in the tree, with the ids in its title. */
export function readCitations(root: string): readonly Citation[] {
  return roots.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
      .toSorted()
      .flatMap((name) =>
        citationsIn(path.posix.join(folder, name), readFileSync(path.join(root, folder, name), 'utf8')),
      ),
  );
}

function citationsIn(file: string, text: string): readonly Citation[] {
  return [...text.matchAll(titlePattern)].map(([, , title = '']) => ({
    file,
    title,
    ids: [
      ...[...title.matchAll(/\[([^\]]+)\]/g)].map(([, id = '']) => id).filter((id) => whole.test(id)),
      ...(title.includes('[${id}]') ? idsOfTable(text) : []),
    ],
  }));
}

const whole = new RegExp(`^${idPattern.source}$`);

/** The ids of a table whose rows are tests: those that stand in quotes. */
const idsOfTable = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(/'([CS]\d+-[a-z]+-\d+)'/g)].flatMap(([, id = '']) => (whole.test(id) ? [id] : []))),
];
