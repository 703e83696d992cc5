/**
 * Reads the text of a condition into a form that proofs can follow. What cannot be followed becomes `free`. Does not
 * check whether the text is permitted; compile-cel.ts does.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { type CelEngine, createCelEngine } from './cel-engine.ts';
import { loops } from './cel-functions.ts';
import { defaultCelLimits } from './cel-limits.ts';
import { celText, constantOf, pathOf } from './cel-text.ts';
import type { Condition, Constant, ReadCondition, Sign, Term } from './condition.ts';

let engine: CelEngine | undefined;

/** Null if it cannot be parsed. */
export function readCondition(text: string): ReadCondition | null {
  if (text.length > defaultCelLimits.maxExpressionChars) return null;
  engine ??= createCelEngine(defaultCelLimits);
  try {
    const { ast } = engine.parse(text);
    const seen = { reads: new Set<string>(), calls: false };
    look(ast, [], seen);
    return { root: read(ast), reads: seen.reads, isCheap: !seen.calls };
  } catch {
    return null;
  }
}

const mirrored: Readonly<Record<Sign, Sign>> = { '==': '==', '!=': '!=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

function read(node: ASTNode): Condition {
  const text = celText(node);
  switch (node.op) {
    case 'value':
      return typeof node.args === 'boolean' ? { kind: 'always', holds: node.args, text } : { kind: 'free', text };
    case '&&':
      return { kind: 'all', parts: node.args.map(read), text };
    case '||':
      return { kind: 'any', parts: node.args.map(read), text };
    case '!_':
      return { kind: 'not', part: read(node.args), text };
    case '?:': {
      const [asked, yes, no] = node.args.map(read);
      if (asked === undefined || yes === undefined || no === undefined) return { kind: 'free', text };
      const otherwise: Condition = { kind: 'not', part: asked, text: `!(${asked.text})` };
      const parts: Condition[] = [
        { kind: 'all', parts: [asked, yes], text },
        { kind: 'all', parts: [otherwise, no], text },
      ];
      return { kind: 'any', parts, text };
    }
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return readComparison(node.op, node.args, text);
    case 'in':
      return readMembership(node.args, text);
    case 'call': {
      const [name, [about]] = node.args;
      const term = name === 'has' && about !== undefined ? termOf(about) : null;
      return term === null || term.path === null ? { kind: 'free', text } : { kind: 'has', term, text };
    }
    case 'id':
    case '.':
    case '[]': {
      const term = termOf(node);
      return term.path === null ? { kind: 'free', text } : { kind: 'truth', term, text };
    }
    default:
      return { kind: 'free', text };
  }
}

function readComparison(sign: Sign, [left, right]: readonly [ASTNode, ASTNode], text: string): Condition {
  const [a, b] = [constantOf(left), constantOf(right)];
  if (a !== undefined && b !== undefined) {
    const holds = compareConstants(sign, a, b);
    return holds === null ? { kind: 'free', text } : { kind: 'always', holds, text };
  }
  // `null` is a constant too: only what is undefined is none.
  const to = a === undefined ? b : a;
  if (to === undefined || (isOrder(sign) && typeof to !== 'number' && typeof to !== 'string'))
    return { kind: 'free', text };
  const term = termOf(a === undefined ? left : right);
  return { kind: 'compare', term, sign: a === undefined ? sign : mirrored[sign], to, text };
}

const isOrder = (sign: Sign): boolean => sign !== '==' && sign !== '!=';

function readMembership([item, list]: readonly [ASTNode, ASTNode], text: string): Condition {
  const items = list.op === 'list' ? list.args.map(constantOf) : [undefined];
  if (items.includes(undefined) || constantOf(item) !== undefined) return { kind: 'free', text };
  return { kind: 'among', term: termOf(item), list: items as Constant[], text };
}

/** Null where the language itself gives an error. */
export function compareConstants(sign: Sign, a: Constant, b: Constant): boolean | null {
  if (sign === '==' || sign === '!=') return typeof a === typeof b ? (a === b) === (sign === '==') : null;
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return null;
  const [left, right] = [a, b] as readonly [number, number];
  if (sign === '<') return left < right;
  if (sign === '<=') return left <= right;
  return sign === '>' ? left > right : left >= right;
}

function termOf(node: ASTNode): Term {
  return { text: celText(node), path: pathOf(node) };
}

interface Seen {
  readonly reads: Set<string>;
  calls: boolean;
}

function look(node: ASTNode, bound: readonly string[], seen: Seen): void {
  if (node.op === 'id' && !bound.includes(node.args)) seen.reads.add(node.args);
  if (node.op === 'rcall' || (node.op === 'call' && node.args[0] !== 'has')) seen.calls = true;
  const [item] = node.op === 'rcall' && loops.has(node.args[0]) ? node.args[2] : [];
  const inside = item?.op === 'id' ? [...bound, item.args] : bound;
  for (const each of childrenOf(node)) look(each, each === firstOf(node) ? bound : inside, seen);
}

/** What a loop runs over is outside of it. */
const firstOf = (node: ASTNode): ASTNode | null => (node.op === 'rcall' ? node.args[1] : null);

function childrenOf(node: ASTNode): readonly ASTNode[] {
  const args: unknown = node.args;
  const flat = Array.isArray(args) ? args.flat(2) : [args];
  return flat.filter((each): each is ASTNode => typeof each === 'object' && each !== null && 'op' in each);
}
