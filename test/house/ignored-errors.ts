/**
 * The rule against errors that are ignored in silence. A catch that returns an answer is not concerned: the answer
 * says what happened.
 */
import { maskSource, type Tree } from './read-source.ts';

/** Code that users or maintainers run; tests may ignore what they provoke. */
const isRunning = (file: string) =>
  /^(?:src|console|scripts|bin)\/.*\.(?:tsx?|js)$/.test(file) && !file.endsWith('.test.ts');

/** A catch with no statement, or a rejection that is answered with a constant or a name. */
const ignoring = [
  /(?<![\w$.])catch\s*(?:\([^)]*\)\s*)?\{\s*\}/g,
  /\.catch\(\s*\(?[\w\s,:]*\)?\s*=>\s*(?:void 0|\{\s*\}|\[\s*\]|'[^']*'|[\w.]+)\s*\)/g,
];

/** What is ignored says so and why: in the catch, on its line, or on the line before. */
export function ignoredErrors(tree: Tree): readonly string[] {
  return [...tree]
    .filter(([file]) => isRunning(file))
    .flatMap(([file, text]) => {
      const masked = maskSource(text);
      const lines = text.split('\n');
      return ignoring
        .flatMap((pattern) => [...masked.matchAll(pattern)])
        .flatMap(({ index, 0: found }) => {
          const first = masked.slice(0, index).split('\n').length;
          const around = lines.slice(Math.max(0, first - 2), first - 1 + found.split('\n').length);
          return around.some((line) => /\/\/ Ignored: \S/.test(line))
            ? []
            : [`${file}:${first}: ignores an error unsaid`];
        });
    });
}
