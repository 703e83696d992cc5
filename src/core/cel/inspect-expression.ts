/**
 * Finds the variables and patterns of an expression, and everything that is not permitted in it. Renames calls of the
 * functions that we replace, and changes nothing else in the tree.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { nearest } from '../values/nearest.ts';
import type { Traversal } from './cel-engine.ts';
import { knownFunctions, loops, noTimestamp, partsOfTime, replacements } from './cel-functions.ts';
import type { CelLimits } from './cel-limits.ts';
import { readTimestamp } from './cel-time.ts';
import type { CelType } from './cel-types.ts';
import { inspectFields, type KnownPath } from './inspect-fields.ts';

export interface Inspected {
  /** In the order in which they are met. */
  readonly reads: readonly string[];
  readonly patterns: readonly { readonly text: string; readonly node: ASTNode }[];
  /** Operands that the engine looks through: compared, searched, joined, handed to a function, looped over. */
  readonly traversed: ReadonlyMap<object, Traversal>;
  /** Places where a value of a known type is read. */
  readonly paths: readonly KnownPath[];
  readonly problem: { readonly says: string; readonly node: ASTNode } | null;
}

const names: readonly string[] = [...knownFunctions, ...loops, 'has'];
/** How an operator looks through its operands. */
const traversals: ReadonlyMap<string, Traversal> = new Map([
  ...['&&', '||'].map((op) => [op, 'truth'] as const),
  ...['==', '!=', 'in', '+'].map((op) => [op, 'whole'] as const),
]);
const reservedKeys: ReadonlySet<unknown> = new Set(['__proto__', 'constructor', 'prototype']);

export function inspectExpression(
  root: ASTNode,
  types: Readonly<Record<string, CelType>>,
  limits: CelLimits,
): Inspected {
  const variables = Object.keys(types);
  const fields = inspectFields(types);
  const reads = new Set<string>();
  const traversed = new Map<object, Traversal>();
  const patterns: { text: string; node: ASTNode }[] = [];
  let problem: Inspected['problem'] = null;
  const refuse = (node: ASTNode, says: string): void => {
    problem ??= { says, node };
  };

  const visitCall = (node: ASTNode & { op: 'call' | 'rcall' }, bound: readonly string[], loopsAround: number): void => {
    const name = node.args[0];
    const args: readonly ASTNode[] = node.op === 'call' ? node.args[1] : node.args[2];
    const receiver = node.op === 'call' ? null : node.args[1];
    if (receiver !== null) visit(receiver, bound, loopsAround);
    if (receiver !== null && loops.has(name)) {
      traversed.set(receiver, 'keys');
      return visitLoop(node, args, bound, loopsAround);
    }
    if (receiver === null && name === 'has') return visitHas(args, bound, loopsAround);
    for (const each of args) visit(each, bound, loopsAround);
    if (!knownFunctions.has(name)) return refuse(node, unknownName(`function ${name}()`, name, names));
    for (const each of receiver === null ? args : [receiver, ...args]) traversed.set(each, 'whole');
    checkArguments(node, name, args);
    const replacement = replacements[name];
    if (replacement !== undefined) (node.args as [string, ...unknown[]])[0] = replacement;
  };

  const checkArguments = (node: ASTNode, name: string, args: readonly ASTNode[]): void => {
    if (name === 'matches') visitPattern(node, args);
    if (name === 'timestamp') visitTimestamp(args);
    if (partsOfTime.includes(name) && args.length > 0)
      refuse(node, `${name}() takes no time zone: it is always in UTC`);
  };

  const visitLoop = (node: ASTNode, args: readonly ASTNode[], bound: readonly string[], around: number): void => {
    const [item, ...bodies] = args;
    if (around + 1 > limits.maxLoopNesting)
      refuse(node, `more than ${limits.maxLoopNesting} loops are inside each other: take one of them out`);
    const within = item?.op === 'id' ? [...bound, item.args] : bound;
    for (const each of bodies) visit(each, within, around + 1);
  };

  const visitPattern = (node: ASTNode, [pattern]: readonly ASTNode[]): void => {
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
      return refuse(pattern ?? node, 'the pattern of matches() must be a text in quotes, so that it can be checked');
    patterns.push({ text: pattern.args, node: pattern });
  };

  const visitTimestamp = ([text]: readonly ASTNode[]): void => {
    if (text?.op === 'value' && typeof text.args === 'string' && readTimestamp(text.args) === null)
      refuse(text, noTimestamp);
  };

  /** What is asked for need not be there: only the variable itself must. */
  const visitHas = ([asked]: readonly ASTNode[], bound: readonly string[], around: number): void => {
    if (asked === undefined) return;
    fields.ask(asked, bound);
    let node = asked;
    while (node.op === '.') node = node.args[0];
    visit(node, bound, around);
  };

  const visit = (node: ASTNode, bound: readonly string[], around: number): void => {
    fields.see(node, bound);
    const how = traversals.get(node.op);
    if (how !== undefined) for (const each of childrenOf(node)) traversed.set(each, how);
    switch (node.op) {
      case 'value': {
        const says = problemOfLiteral(node.args);
        return says === null ? undefined : refuse(node, says);
      }
      case 'id':
        if (bound.includes(node.args)) return;
        reads.add(node.args);
        if (!variables.includes(node.args)) refuse(node, unknownName(`variable ${node.args}`, node.args, variables));
        return;
      case 'call':
      case 'rcall':
        return visitCall(node, bound, around);
      case 'map':
        for (const [key] of node.args)
          if (key.op === 'value' && reservedKeys.has(key.args)) refuse(key, `${key.args} is not usable as a key`);
        break;
      default:
    }
    for (const each of childrenOf(node)) visit(each, bound, around);
  };

  visit(root, [], 0);
  const missing = fields.missing();
  if (missing !== null) refuse(missing.node, missing.says);
  return { reads: [...reads], patterns, traversed, paths: fields.paths(), problem };
}

function problemOfLiteral(value: unknown): string | null {
  if (typeof value === 'object' && value !== null) return 'bytes and unsigned numbers are not JSON';
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value)
    return 'the whole number is out of range: it takes more than 64 bits';
  return null;
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  const args: unknown = node.args;
  const flat = Array.isArray(args) ? args.flat() : [args];
  return flat.filter((each): each is ASTNode => typeof each === 'object' && each !== null && 'op' in each);
}

function unknownName(what: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== null) return `there is no ${what} here; did you mean ${near}?`;
  return `there is no ${what} here; there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ') || 'none'}`;
}
