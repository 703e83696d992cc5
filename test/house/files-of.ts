/** Which files of the project are what, and what a file imports. */
import { referencesOf, targetOf, type Tree } from './read-source.ts';

export type Rule = (tree: Tree) => readonly string[];

const codeFolders = ['src', 'console', 'test', 'bench', 'examples', 'scripts', 'bin'];
export const isCode = (file: string) => /\.(tsx?|js)$/.test(file) && codeFolders.includes(file.split('/')[0] ?? '');
export const isSource = (file: string) => file.startsWith('src/') && file.endsWith('.ts') && !file.endsWith('.test.ts');
export const filesOf = (tree: Tree, wanted: (file: string) => boolean) => [...tree].filter(([file]) => wanted(file));
export const partOf = (file: string, at: number) => file.split('/')[at]?.replace(/\.ts$/, '') ?? '';
export const layerOf = (file: string) => (file.startsWith('src/') ? partOf(file, 1) : 'outside src');

/** From file to file, inside the project. A URL may also name data, such as package.json; that is no dependency. */
export function edgesOf(tree: Tree, file: string, text: string): readonly string[] {
  return referencesOf(text).flatMap((reference) => {
    const target = targetOf(tree, file, reference);
    return target === null || (reference.kind === 'url' && !target.endsWith('.ts')) ? [] : [target];
  });
}
