/**
 * Finds fields that an expression reads and that do not exist, with the nearest name. An optional field must be
 * guarded by `has()` or `in` in the same expression.
 */
import type { ASTNode } from '@marcbachmann/cel-js';
import { nearest } from '../values/nearest.ts';
import { type CelType, fieldIn } from './cel-types.ts';

export interface MissingField {
  readonly says: string;
  readonly node: ASTNode;
}

/** A place in the text where a value of a known type is read. */
export interface KnownPath {
  readonly start: number;
  readonly end: number;
  readonly type: CelType;
}

export interface FieldInspection {
  /** A node on the way through the expression; `bound` are the names that loops around it have given. */
  readonly see: (node: ASTNode, bound: readonly string[]) => void;
  /** What `has()` asks about. */
  readonly ask: (node: ASTNode, bound: readonly string[]) => void;
  /** The first one, once everything was seen; null if there is none. */
  readonly missing: () => MissingField | null;
  /** The longest ones: none is part of another. */
  readonly paths: () => readonly KnownPath[];
}

export function inspectFields(variables: Readonly<Record<string, CelType>>): FieldInspection {
  const asked = new Set<string>();
  const unguarded: (MissingField & { readonly path: string })[] = [];
  const paths: KnownPath[] = [];
  let found: MissingField | null = null;

  /** The path that a node reads, and the type of what it reads from; null if it is not a path from a variable. */
  const pathOf = (node: ASTNode, bound: readonly string[]): { path: string; type: CelType } | null => {
    if (node.op === 'id') {
      if (bound.includes(node.args) || !Object.hasOwn(variables, node.args)) return null;
      return { path: node.args, type: variables[node.args] ?? 'dyn' };
    }
    const name = fieldOf(node);
    if (name === null) return null;
    const from = pathOf(name.from, bound);
    if (from === null || typeof from.type === 'string') return null;
    return { path: `${from.path}.${name.field}`, type: fieldIn(from.type, name.field) ?? 'dyn' };
  };

  /** `"note" in args` asks whether the field is there. */
  const seeMembership = ([key, within]: readonly [ASTNode, ASTNode], bound: readonly string[]): void => {
    const path = key.op === 'value' && typeof key.args === 'string' ? pathOf(within, bound) : null;
    if (path !== null) asked.add(`${path.path}.${String(key.args)}`);
  };

  return {
    see(node, bound) {
      if (node.op === 'in') return seeMembership(node.args, bound);
      const name = fieldOf(node);
      const from = name === null ? null : pathOf(name.from, bound);
      if (name === null || from === null || typeof from.type === 'string') return;
      const { fields, sometimes = {} } = from.type;
      const path = `${from.path}.${name.field}`;
      const type = fieldIn(from.type, name.field);
      if (type !== null) paths.push({ ...node.range, type });
      if (type === null) {
        const near = nearest(name.field, Object.keys(fields));
        const hint = near === null ? '' : `; did you mean ${near}?`;
        found ??= { says: `there is no field ${name.field}${hint}`, node };
      } else if (Object.hasOwn(sometimes, name.field))
        unguarded.push({ says: `${sometimes[name.field] ?? ''}: ask has(${path}) first`, node, path });
    },
    ask(node, bound) {
      const path = pathOf(node, bound);
      if (path !== null) asked.add(path.path);
    },
    paths: () => paths.filter((path) => !paths.some((other) => isPartOf(path, other))),
    missing: () => found ?? unguarded.find(({ path }) => !asked.has(path)) ?? null,
  };
}

const isPartOf = (one: KnownPath, other: KnownPath): boolean =>
  one.start >= other.start && one.end <= other.end && one.end - one.start < other.end - other.start;

/** `from.field`, or `from["field"]`. */
function fieldOf(node: ASTNode): { readonly from: ASTNode; readonly field: string } | null {
  if (node.op === '.') return { from: node.args[0], field: node.args[1] };
  if (node.op !== '[]') return null;
  const [from, key] = node.args;
  return key.op === 'value' && typeof key.args === 'string' ? { from, field: key.args } : null;
}
