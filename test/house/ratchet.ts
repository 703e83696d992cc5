/**
 * House rules that the project does not keep everywhere yet. Each has a limit and a list of what is above it, with its
 * figure, in ratchet.json. Nothing may grow or come to the list, and what is within the limit leaves it: `npm run
 * ratchet` writes it anew.
 */
import path from 'node:path';
import { type FunctionRule, functionLimits, measureFunctions } from './measure-functions.ts';
import type { Tree } from './read-source.ts';
import { subjectsFile } from './read-tree.ts';

export const ratchetFile = 'test/house/ratchet.json';
export type Figures = Readonly<Record<string, number>>;

interface Ratchet {
  readonly limit: string;
  /** What is above the limit, by name. */
  measure(tree: Tree): Figures;
}

const mostLinesOfAFactory = 120;
const mostFilesOfAFolder = 20;
const mostColumns = 120;
const mostCharactersOfASubject = 72;

const isCode = (file: string) => /^(?:src|console|test|bench|scripts|examples|bin)\/.*\.(?:tsx?|js)$/.test(file);
const isMeasured = (file: string) => isCode(file) && !file.endsWith('.test.ts');

/** Two of the same name in a file are told apart by their order. */
function named(found: readonly (readonly [string, number])[]): Figures {
  const figures: Record<string, number> = {};
  for (const [name, figure] of found) {
    let own = name;
    for (let next = 2; own in figures; next++) own = `${name} ${next}`;
    figures[own] = figure;
  }
  return figures;
}

/** A factory is named for it and returns an object: its own lines are those of the functions in it. */
function isFactory({ name, text }: { readonly name: string; readonly text: string }): boolean {
  if (/^create[A-Z]/.test(name)) return /^ *return (?:await )?(?:\{|Object\.|[a-z]\w*;)|=> \(\{/m.test(text);
  return /^(?:open|start)[A-Z]/.test(name) && /^ *return (?:await )?(?:\{|Object\.)/m.test(text);
}

const functions = (rule: FunctionRule, isExcepted: (tree: Tree, name: string) => boolean = () => false): Ratchet => ({
  limit: `at most ${functionLimits[rule]}`,
  measure: (tree) =>
    named(
      measureFunctions(tree, isMeasured)
        .filter((found) => found.rule === rule && !isExcepted(tree, `${found.file} ${found.name}`))
        .filter(
          (found) => !(rule === 'max-lines-per-function' && isFactory(found) && found.figure <= mostLinesOfAFactory),
        )
        .map(({ file, name, figure }) => [`${file} ${name}`, figure]),
    ),
});

/** One table or one switch, whose branches a reader takes in at a glance. */
const tablesIn = (tree: Tree): readonly string[] => readList(tree).tables;

const filesOfFolders: Ratchet = {
  limit: `at most ${mostFilesOfAFolder}`,
  measure(tree) {
    // Tests stand beside what they test in src; elsewhere they are what a folder is for.
    const counted = [...tree.keys()].filter((file) => isCode(file) && !/^src\/.*\.test\.ts$/.test(file));
    const folders = Map.groupBy(counted, (file) => path.posix.dirname(file));
    return named(
      [...folders]
        .map(([folder, { length }]) => [folder, length] as const)
        .filter(([, length]) => length > mostFilesOfAFolder),
    );
  },
};

const wideLines: Ratchet = {
  limit: 'none',
  measure: (tree) =>
    named(
      [...tree]
        .filter(([file]) => file.endsWith('.md'))
        .map(([file, text]) => [file, text.split('\n').filter(isTooWide).length] as const)
        .filter(([, lines]) => lines > 0),
    ),
};

/** A row of a table and an address cannot be broken. */
const isTooWide = (line: string) => [...line].length > mostColumns && !/^\s*\||^\s*\S+$/.test(line);

const subjects: Ratchet = {
  limit: `at most ${mostCharactersOfASubject} characters`,
  measure: (tree) =>
    named(
      (tree.get(subjectsFile) ?? '')
        .split('\n')
        .map((subject) => [subject, [...subject].length] as const)
        .filter(([, length]) => length > mostCharactersOfASubject),
    ),
};

const ratchets = {
  'no function has a cyclomatic complexity above 15, tables excepted': functions('complexity', (tree, name) =>
    tablesIn(tree).includes(name),
  ),
  'no function is longer than 60 lines, a factory 120': functions('max-lines-per-function'),
  'no function has more than 5 parameters': functions('max-params'),
  'no folder has more than 20 files, tests beside their source not counted': filesOfFolders,
  'no line of a document is wider than 120 columns': wideLines,
  'no subject of a commit is longer than 72 characters': subjects,
} satisfies Record<string, Ratchet>;

type RatchetName = keyof typeof ratchets;

interface RatchetList {
  /** Functions that are one table or one switch, by file and name. Kept by hand. */
  readonly tables: readonly string[];
  readonly above: Readonly<Record<string, Figures>>;
}

function readList(tree: Tree): RatchetList {
  return { tables: [], above: {}, ...(JSON.parse(tree.get(ratchetFile) ?? '{}') as Partial<RatchetList>) };
}

/** The list as it would have to be. A table that is not above the limit is none that has to be named. */
export function writtenList(tree: Tree): RatchetList {
  const complex = measureFunctions(tree, isMeasured).filter(({ rule }) => rule === 'complexity');
  const names = new Set(complex.map(({ file, name }) => `${file} ${name}`));
  const tables = tablesIn(tree).filter((table) => names.has(table));
  const above = Object.entries(ratchets).map(([rule, { measure }]) => {
    const figures = Object.entries(measure(tree)).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return [rule, Object.fromEntries(figures)] as const;
  });
  return { tables, above: Object.fromEntries(above.filter(([, figures]) => Object.keys(figures).length > 0)) };
}

/** What differs between the list and the tree, each in a sentence. */
function complaintsOf(rule: RatchetName, tree: Tree): readonly string[] {
  const listed: Figures = readList(tree).above[rule] ?? {};
  const { limit, measure } = ratchets[rule];
  const found = measure(tree);
  const above = Object.entries(found).flatMap(([name, figure]) => {
    const before = listed[name];
    if (before === figure) return [];
    if (before === undefined) return [`${name}: ${figure}, ${limit}`];
    return [
      figure > before
        ? `${name}: ${figure}, was ${before}`
        : `${name}: ${figure}; npm run ratchet lowers it from ${before}`,
    ];
  });
  const gone = Object.keys(listed).filter((name) => !(name in found));
  return [...above, ...gone.map((name) => `${name}: is not above the limit; npm run ratchet takes it from the list`)];
}

export const ratchetRules = Object.fromEntries(
  Object.keys(ratchets).map((rule) => [rule, (tree: Tree) => complaintsOf(rule as RatchetName, tree)]),
) as Readonly<Record<RatchetName, (tree: Tree) => readonly string[]>>;

/** INVARIANT: an exception that nobody needs any more is none. */
export function needlessTables(tree: Tree): readonly string[] {
  const needed = writtenList(tree).tables;
  return tablesIn(tree)
    .filter((table) => !needed.includes(table))
    .map((table) => `${table}: is named as a table without need`);
}
