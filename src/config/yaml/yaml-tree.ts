/**
 * Parses YAML into a tree with places. Total: any text gives a tree or problems. YAML 1.2 without tags and merges.
 * Aliases are followed and counted, so that a small text cannot become a huge tree.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Document,
  type Scalar,
  type YAMLError,
  type Alias,
} from 'yaml';
import { type Place, placeAt, type Position, type Tell } from '../problem.ts';

export type Tree =
  | { readonly kind: 'map'; readonly at: Place; readonly entries: ReadonlyMap<string, TreeEntry> }
  | { readonly kind: 'list'; readonly at: Place; readonly items: readonly Tree[] }
  | TreeScalar;

export interface TreeEntry {
  readonly keyAt: Place;
  readonly value: Tree;
}

export interface TreeScalar {
  readonly kind: 'scalar';
  readonly at: Place;
  readonly value: null | boolean | number | string;
  /** The place in the file of a line and column of the value, as near as possible. */
  readonly inside: (position: Position) => Place;
}

export interface YamlLimits {
  readonly maxChars: number;
  /** Aliases counted. */
  readonly maxNodes: number;
  readonly maxDepth: number;
}

export const yamlLimits: YamlLimits = { maxChars: 1 << 20, maxNodes: 100_000, maxDepth: 64 };

/** Ends the reading. */
class Unreadable extends Error {
  readonly place: Place;
  readonly fix: string;

  constructor(place: Place, problem: string, fix: string) {
    super(problem);
    this.place = place;
    this.fix = fix;
  }
}

/** Null if the text is empty or cannot be used. */
export function readYaml(text: string, file: string, tell: Tell, limits = yamlLimits): Tree | null {
  const start = placeAt(file);
  try {
    if (text.length > limits.maxChars)
      throw new Unreadable(start, `the file is longer than ${limits.maxChars} characters`, 'split it');
    refuseLoneReturns(text, file);
    const lines = new LineCounter();
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'error',
      version: '1.2',
      // The parser's own check for duplicate keys is quadratic; ours is below.
      uniqueKeys: false,
    });
    const complaints = [...document.errors, ...document.warnings];
    // One mistake causes many parser errors: only the first of each code is reported.
    const firsts = new Map(complaints.toReversed().map((each) => [each.code, each]));
    for (const each of firsts.values()) tellComplaint(each, { lines, file, tell });
    if (complaints.length > 0 || document.contents === null) return null;
    return growTree(document, { text, file, lines, tell, limits });
  } catch (error) {
    if (error instanceof Unreadable) tell(error.place, error.message, error.fix, 'ShapeInvalid');
    else tell(start, 'the file is nested too deeply to be read', 'write it with fewer levels', 'ShapeInvalid');
    return null;
  }
}

/** Editors start a new line at a lone carriage return and the parser does not, so places would be wrong. */
function refuseLoneReturns(text: string, file: string): void {
  const at = /\r(?!\n)/.exec(text)?.index;
  if (at === undefined) return;
  const before = text.slice(0, at).split('\n');
  const place = placeAt(file, before.length, (before.at(-1)?.length ?? 0) + 1);
  throw new Unreadable(place, 'a line ends in a carriage return alone', 'end lines with a line feed');
}

/** A text that begins with * is an alias, and one with a colon is a map. */
const inQuotes = 'put the text in quotes';

const fixes: Readonly<Record<string, string>> = {
  BAD_ALIAS: inQuotes,
  BAD_INDENT: 'use the same indentation for everything on one level',
  BAD_SCALAR_START: inQuotes,
  BLOCK_AS_IMPLICIT_KEY: inQuotes,
  BLOCK_IN_FLOW: 'put the text in quotes, or correct the YAML',
  MULTIPLE_DOCS: 'keep one document, without ---',
  TAB_AS_INDENT: 'indent with spaces',
  // `!context.done` without its ! would say the opposite.
  TAG_RESOLVE_FAILED: 'put a text that begins with ! in quotes, or leave the tag out',
  UNEXPECTED_TOKEN: 'put the text before it in quotes, or correct the YAML',
};

interface Source {
  readonly lines: LineCounter;
  readonly file: string;
  readonly tell: Tell;
}

interface Growing extends Source {
  readonly text: string;
  readonly limits: YamlLimits;
}

function tellComplaint({ code, message, pos }: YAMLError, source: Source): void {
  // Deeply nested brackets overflow the parser's stack.
  const deep = /stack/i.test(message);
  const says = deep ? 'the file is nested too deeply to be read' : `this is not YAML: ${plainWords(message)}`;
  // The parser reports an unclosed bracket at the next line, as an indentation error.
  const [, bracket] = /end with a ([\]}])/.exec(message) ?? [];
  const closing =
    bracket === undefined ? undefined : `close it with ${bracket} before this line, and indent what stands in it`;
  const fix = deep ? 'write it with fewer levels' : (closing ?? fixes[code] ?? 'correct the YAML here');
  source.tell(placeOf(source, pos[0]), says, fix, 'ShapeInvalid');
}

/** Removes the parser's advice to programmers. */
function plainWords(message: string): string {
  return message.replace(/\n[^]*|; please use YAML[^]*/, '');
}

function placeOf({ lines, file }: Source, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { file, line: Math.max(1, line), column: Math.max(1, col) };
}

function growTree(document: Document.Parsed, source: Growing): Tree {
  const { file, tell, limits } = source;
  const tooDeep = (at: Place): never => {
    throw new Unreadable(at, `more than ${limits.maxDepth} levels are inside each other`, 'write it with fewer levels');
  };
  const nodePlace = (node: Node | null, around: Place) => (node?.range ? placeOf(source, node.range[0]) : around);
  const start = placeAt(file);
  const aliases = resolveAliases(document.contents, limits.maxDepth, (node) => tooDeep(nodePlace(node, start)));
  let nodesLeft = limits.maxNodes;
  const grow = (node: Node | null, depth: number, around: Place): Tree => {
    const at = nodePlace(node, around);
    if (--nodesLeft < 0)
      throw new Unreadable(
        at,
        `the file says more than ${limits.maxNodes} things, aliases counted`,
        'use fewer aliases, or split it',
      );
    if (depth > limits.maxDepth) tooDeep(at);
    if (isAlias(node)) {
      const meant = aliases.get(node);
      const fix = 'put a text that begins with * in quotes, or write the anchor before it';
      if (meant === undefined) throw new Unreadable(at, 'this is an alias, and it stands for nothing', fix);
      return grow(meant, depth + 1, at);
    }
    if (isSeq(node))
      return { kind: 'list', at, items: node.items.map((each) => grow(each as Node | null, depth + 1, at)) };
    if (!isMap(node)) return scalar(node, at, source);
    const entries = new Map<string, TreeEntry>();
    for (const { key, value } of node.items) {
      const name = grow(key as Node | null, depth + 1, at);
      const read = name.kind === 'scalar' ? nameOf(name, key) : null;
      if (read === null) tell(name.at, 'this cannot be a key', 'use a word, or a text in quotes');
      else if (entries.has(read))
        tell(name.at, `the key '${read}' stands here twice`, 'keep one of them', 'ShapeInvalid');
      else entries.set(read, { keyAt: name.at, value: grow(value as Node | null, depth + 1, name.at) });
    }
    return { kind: 'map', at, entries };
  };
  return grow(document.contents, 0, start);
}

/** As it is written: `404` and `30m` are names too. */
function nameOf({ value }: TreeScalar, key: unknown): string | null {
  if (typeof value === 'string') return value === '__proto__' ? null : value;
  const source = isScalar(key) ? key.source : undefined;
  return value === null || source === undefined ? null : source;
}

function scalar(node: Node | null, at: Place, { text, tell }: Growing): TreeScalar {
  const value: unknown = isScalar(node) ? node.value : null;
  const inside = (position: Position): Place => (isScalar(node) ? placeInside(node, at, position, text) : at);
  if (typeof value === 'string' && !value.isWellFormed()) {
    tell(at, 'this text has half of a character in it', 'write the whole character', 'ShapeInvalid');
    return { kind: 'scalar', at, value: value.toWellFormed(), inside };
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'string')
    return { kind: 'scalar', at, value, inside };
  if (typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
    return { kind: 'scalar', at, value, inside };
  tell(at, 'this number cannot be held exactly', 'write it as a text in quotes', 'ShapeInvalid');
  return { kind: 'scalar', at, value: 0, inside };
}

function placeInside(node: Scalar, at: Place, position: Position, text: string): Place {
  const [from, to] = node.range ?? [0, 0];
  const written = text.slice(from, to);
  if (node.type === 'BLOCK_LITERAL') {
    const [, first = ''] = written.split('\n');
    const indent = /^ */.exec(first)?.[0].length ?? 0;
    return placeAt(at.file, at.line + position.line, indent + position.column);
  }
  // A text over several lines is folded: only its start is known.
  if (written.includes('\n') || position.line > 1) return at;
  const quote = node.type === 'PLAIN' ? 0 : 1;
  return placeAt(at.file, at.line, at.column + quote + position.column - 1);
}

/**
 * Maps each alias to the nearest anchor before it, in one walk. `tooDeep` must throw; it is called below `maxDepth`.
 */
export function resolveAliases(
  contents: Node | null,
  maxDepth: number,
  tooDeep: (node: Node) => never,
): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const meant = new Map<Alias, Node>();
  const walk = (node: Node | null, depth: number): void => {
    if (node === null) return;
    if (depth > maxDepth) tooDeep(node);
    if (isAlias(node)) {
      const found = anchors.get(node.source);
      if (found !== undefined) meant.set(node, found);
      return;
    }
    const { anchor } = node as { readonly anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, node);
    if (isSeq(node)) for (const each of node.items) walk(each as Node | null, depth + 1);
    if (isMap(node))
      for (const { key, value } of node.items) {
        walk(key as Node | null, depth + 1);
        walk(value as Node | null, depth + 1);
      }
  };
  walk(contents, 0);
  return meant;
}
