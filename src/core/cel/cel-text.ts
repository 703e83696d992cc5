/**
 * Writes an expression in one normal form, so that equal texts mean the same value. Also finds constants, and paths
 * that start at a variable.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Constant } from './condition.ts';

/** Undefined for what is no constant, and for numbers that a double cannot hold. */
export function constantOf(node: ASTNode): Constant | undefined {
  if (node.op === '-_') {
    const inner = constantOf(node.args);
    return typeof inner === 'number' ? -inner : undefined;
  }
  if (node.op !== 'value') return undefined;
  const { args: value } = node;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** From a variable inwards; null for what is calculated. */
export function pathOf(node: ASTNode): readonly (string | number)[] | null {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.' && node.op !== '[]') return null;
  const around = pathOf(node.args[0]);
  const [, step] = node.args;
  const key = typeof step === 'string' ? step : keyOf(step);
  return around === null || key === null ? null : [...around, key];
}

/** A list has an item 0 and none 0.0. */
function keyOf(node: ASTNode): string | number | null {
  const key = constantOf(node);
  if (typeof key === 'string') return key;
  return typeof key === 'number' && node.op === 'value' && typeof node.args === 'bigint' ? key : null;
}

/** As people write it: `args.card["first name"]`, `args.items[0]`. */
export function pathText([first = '', ...rest]: readonly (string | number)[]): string {
  const isName = (step: string | number) => typeof step === 'string' && /^[A-Za-z_]\w*$/.test(step);
  return `${first}${rest.map((step) => (isName(step) ? `.${step}` : `[${JSON.stringify(step)}]`)).join('')}`;
}

export function celText(node: ASTNode): string {
  const path = pathOf(node);
  if (path !== null) return pathText(path);
  switch (node.op) {
    case 'value':
      return constantText(node.args);
    case 'id':
      return node.args;
    case '!_':
    case '-_':
      return `${node.op.slice(0, 1)}${within(node.args, simple)}`;
    case '.':
    case '.?':
      return `${within(node.args[0], simple)}${node.op}${node.args[1]}`;
    case '[]':
    case '[?]':
      return `${within(node.args[0], simple)}${node.op.slice(0, -1)}${celText(node.args[1])}]`;
    case 'call':
      return `${node.args[0]}(${node.args[1].map(celText).join(', ')})`;
    case 'rcall':
      return `${within(node.args[1], simple)}.${node.args[0]}(${node.args[2].map(celText).join(', ')})`;
    case 'list':
      return `[${node.args.map(celText).join(', ')}]`;
    case 'map':
      return `{${node.args.map((entry) => entry.map(celText).join(': ')).join(', ')}}`;
    case '?:': {
      const [asked, yes, no] = node.args.map((each) => within(each, simple));
      return `${asked} ? ${yes} : ${no}`;
    }
    case '&&':
      return node.args.map((each) => within(each, inAnd)).join(' && ');
    case '||':
      return node.args.map((each) => within(each, inOr)).join(' || ');
    default:
      return node.args.map((each) => within(each, simple)).join(` ${node.op} `);
  }
}

const simple: ReadonlySet<string> = new Set(['value', 'id', '.', '.?', '[]', '[?]', 'call', 'rcall', 'list', 'map']);
const inAnd: ReadonlySet<string> = new Set([...simple, '&&', '!_', '==', '!=', '<', '<=', '>', '>=', 'in']);
const inOr: ReadonlySet<string> = new Set([...inAnd, '||']);

/** In brackets, unless it is one of those that need none. */
function within(node: ASTNode, plain: ReadonlySet<string>): string {
  return plain.has(node.op) ? celText(node) : `(${celText(node)})`;
}

/** `2` and `2.0` are not the same: one divides whole numbers. */
function constantText(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? `${value}.0` : String(value);
  if (typeof value !== 'string') return String(value);
  return `'${JSON.stringify(value).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"')}'`;
}
