/**
 * Reads TypeScript as text, well enough for the house rules: what is code and what is comment or string, and what a
 * file refers to. It keeps every offset, so that a match in the masked text can be looked up in the original.
 */
import path from 'node:path';

/** Path from the project's root, with forward slashes, to the file's text. */
export type Tree = ReadonlyMap<string, string>;

export interface Reference {
  readonly kind: 'import' | 'url';
  /** As written; of a template, what stands before its first `${`. */
  readonly specifier: string;
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** A slash after one of these begins a regular expression; after anything else it divides. */
const beforeRegExp = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|throw|new|else|do|yield|await))$/;

const regExpAt = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const commentAt = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const stringAt = /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/y;

function at(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

/** The text with comments, strings and regular expressions blanked; quotes and line ends stay where they were. */
export function maskSource(text: string): string {
  let masked = '';
  const open: ('brace' | 'template')[] = [];
  const quoted = (piece: string) => piece.charAt(0) + blank(piece.slice(1, -1)) + piece.charAt(piece.length - 1);
  while (masked.length < text.length) {
    const here = masked.length;
    const char = text.charAt(here);
    const comment = at(commentAt, text, here);
    const string = at(stringAt, text, here);
    if (comment !== undefined) masked += blank(comment);
    else if (string !== undefined) masked += string.length < 2 ? string : quoted(string);
    else if (char === '/' && beforeRegExp.test(masked.trimEnd().slice(-10)))
      masked += blank(at(regExpAt, text, here) ?? char);
    else if (char === '`' || (char === '}' && open.at(-1) === 'template')) {
      if (char === '}') open.pop();
      const end = endOfTemplateText(text, here + 1);
      masked += char + blank(text.slice(here + 1, end));
      if (text.startsWith('${', end)) {
        open.push('template');
        masked += '${';
      } else masked += text.slice(end, end + 1);
    } else {
      if (char === '{') open.push('brace');
      if (char === '}') open.pop();
      masked += char;
    }
  }
  return masked;
}

/** The offset of the closing backtick or of the next `${`. */
function endOfTemplateText(text: string, from: number): number {
  let end = from;
  while (end < text.length && text.charAt(end) !== '`' && !text.startsWith('${', end)) {
    end += text.charAt(end) === '\\' ? 2 : 1;
  }
  return Math.min(end, text.length);
}

const quote = '[\'"`]';
const referring: readonly (readonly [Reference['kind'], RegExp])[] = [
  ['import', new RegExp(`\\b(?:import|export)\\b[^;'"\`]*?\\bfrom\\s*(?=${quote})`, 'g')],
  ['import', new RegExp(`\\bimport\\s*(?=${quote})`, 'g')],
  ['import', new RegExp(`\\bimport(?:\\.meta\\.resolve)?\\s*\\(\\s*(?=${quote})`, 'g')],
  ['url', new RegExp(`\\bnew\\s+URL\\s*\\(\\s*(?=${quote}[^;]*?,\\s*import\\.meta\\.)`, 'g')],
];

/** Everything a file refers to: imports of values and types, re-exports, dynamic imports, URLs beside itself. */
export function referencesOf(text: string): readonly Reference[] {
  const masked = maskSource(text);
  return referring.flatMap(([kind, pattern]) =>
    [...masked.matchAll(pattern)].map((match) => {
      const start = match.index + match[0].length;
      const mark = text.charAt(start);
      const end = mark === '`' ? endOfTemplateText(text, start + 1) : text.indexOf(mark, start + 1);
      return { kind, specifier: text.slice(start + 1, end) };
    }),
  );
}

/**
 * The file a relative specifier names, or null for a package. Workers may be named by their built or open extension.
 */
export function targetOf(tree: Tree, from: string, { specifier }: Reference): string | null {
  if (!specifier.startsWith('.')) return null;
  const plain = path.posix.join(path.posix.dirname(from), specifier);
  const candidates = [plain, plain.replace(/\.js$/, '.ts'), `${plain}ts`, `${plain}.ts`];
  return candidates.find((candidate) => tree.has(candidate)) ?? plain;
}

/** The lines of the comment a file opens with, without the comment's own signs. */
export function headerOf(text: string): readonly string[] {
  const block = /^\/\*\*?([\s\S]*?)\*\//.exec(text)?.[1];
  const lines = (block ?? /^(?:\/\/.*\n)+/.exec(text)?.[0] ?? '').split('\n');
  const bare = lines.map((line) => line.replace(/^\s*(?:\*|\/\/)?/, '').trim());
  return bare.slice(bare[0] === '' ? 1 : 0, bare.at(-1) === '' ? -1 : undefined);
}
