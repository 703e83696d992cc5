/** Reads a tree by its shape. Everything that does not fit is reported with its place; the rest is read. */
import { preview } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { durationForms, durationMs } from '../duration.ts';
import type { Place, Tell } from '../problem.ts';
import type { EitherShape, FieldsShape, NamedShape, Shape, TextShape } from './shape.ts';
import type { Tree, TreeScalar } from '../yaml/yaml-tree.ts';

export interface ReadParts {
  readonly tell: Tell;
  /** Undefined leaves `${NAME}` as it is written. */
  readonly env: Readonly<Record<string, string | undefined>> | undefined;
}

/** Undefined for what is invalid: it is reported and left out of its parent. */
export function readShape(tree: Tree, shape: Shape, parts: ReadParts): Json | undefined {
  const { tell } = parts;
  switch (shape.kind) {
    case 'text':
      return readText(tree, shape, parts);
    case 'cel':
      if (tree.kind === 'scalar' && typeof tree.value === 'string') return tree.value;
      // `guard: true` is an expression too.
      if (tree.kind === 'scalar' && tree.value !== null) return String(tree.value);
      return wrong(tree, `an expression (${shape.says})`, tell);
    case 'flag':
      return tree.kind === 'scalar' && typeof tree.value === 'boolean'
        ? tree.value
        : wrong(tree, 'true or false', tell);
    case 'nothing':
      return tree.kind === 'scalar' && tree.value === null ? null : wrong(tree, shape.says, tell);
    case 'count':
    case 'number': {
      const { kind, least, most } = shape;
      const value = tree.kind === 'scalar' && typeof tree.value === 'number' ? tree.value : Number.NaN;
      if (value >= least && value <= most && (kind === 'number' || Number.isInteger(value))) return value;
      return wrong(tree, `a ${kind === 'count' ? 'whole ' : ''}number from ${least} to ${most}`, tell);
    }
    case 'duration':
      return readDuration(tree, shape, tell);
    case 'json':
      if (shape.sort === 'map' && tree.kind !== 'map') return wrong(tree, `a map (${shape.says})`, tell);
      if (shape.sort === 'text' && (tree.kind !== 'scalar' || typeof tree.value !== 'string'))
        return wrong(tree, `a text (${shape.says})`, tell);
      return shape.template === true ? filledIn(tree, parts) : plainOf(tree);
    case 'fields':
      return readFields(tree, shape, parts);
    case 'named':
      return readNamed(tree, shape, parts);
    case 'list': {
      if (tree.kind !== 'list') return wrong(tree, `a list (${shape.says})`, tell);
      if (tree.items.length < shape.least)
        return void tell(tree.at, 'an empty list stands here', `write at least ${shape.least} (${shape.says})`);
      if (tree.items.length > shape.most)
        return void tell(tree.at, `this list is longer than ${shape.most}`, 'make it shorter');
      return tree.items.flatMap((each) => readShape(each, shape.items, parts) ?? []);
    }
    case 'either':
      return readEither(tree, shape, parts);
    case 'again':
      return readShape(tree, shape.shape(), parts);
    default:
      return unreachable(shape);
  }
}

function readText(tree: Tree, shape: TextShape, { tell, env }: ReadParts): Json | undefined {
  const { oneOf, pattern } = shape;
  const expected = expectedText(shape);
  const value = tree.kind === 'scalar' ? tree.value : null;
  // A version such as 1.0 is a number in YAML, and its zero is lost.
  if (typeof value === 'number' && oneOf === undefined)
    return void tell(tree.at, `a number stands here, and a text is needed`, `put it in quotes: "${value}"`);
  if (typeof value !== 'string' || value === '') return wrong(tree, expected, tell);
  if (oneOf !== undefined && !oneOf.includes(value)) {
    const near = nearest(value, oneOf);
    const fix = near === null ? `use ${expected}` : `did you mean ${near}?`;
    return void tell(tree.at, `'${value}' is not known here`, fix);
  }
  const filled = shape.template === true ? substitute(value, env) : { ok: true as const, text: value };
  if (!filled.ok) return void tell(tree.at, filled.problem, filled.fix);
  const isFinal = env !== undefined || !value.includes('${');
  if (pattern === undefined || !isFinal || new RegExp(pattern[0]).test(filled.text)) return filled.text;
  return void tell(tree.at, `${preview(value)} is not usable here`, `use ${pattern[1]}`);
}

const expectedText = ({ oneOf, says }: TextShape): string =>
  oneOf === undefined ? `a text (${says})` : `one of ${oneOf.join(', ')}`;

function readDuration(tree: Tree, shape: Shape & { kind: 'duration' }, tell: Tell): Json | undefined {
  const ms = tree.kind === 'scalar' && typeof tree.value === 'string' ? durationMs(tree.value) : null;
  if (ms === null) return wrong(tree, `a duration such as ${durationForms}`, tell);
  if (ms >= shape.leastMs && ms <= shape.mostMs) return ms;
  return void tell(
    tree.at,
    'this duration is too short or too long',
    `use ${shape.leastMs}ms to ${shape.mostMs / 1_000}s`,
  );
}

function readFields(tree: Tree, shape: FieldsShape, parts: ReadParts): Json | undefined {
  const { tell } = parts;
  if (tree.kind !== 'map') return wrong(tree, `a map (${shape.says})`, tell);
  const known = Object.keys(shape.fields);
  const read: Record<string, Json> = {};
  const meant = new Set(tree.entries.keys());
  for (const [key, { keyAt, value }] of tree.entries) {
    const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
    if (field !== undefined) {
      put(read, key, readShape(value, field.shape, parts));
      continue;
    }
    const stranger = shape.strangers !== undefined && Object.hasOwn(shape.strangers, key) && shape.strangers[key];
    const near = stranger ? (stranger.insteadOf ?? null) : nearest(key, known);
    if (stranger) tell(keyAt, stranger.says, stranger.fix);
    else
      tell(
        keyAt,
        `there is no key '${key}' here`,
        near === null ? `use one of ${known.join(', ')}` : `did you mean ${near}?`,
      );
    // The key that was probably meant is not reported as missing too.
    if (near !== null) meant.add(near);
  }
  tellMissing(tree.at, shape, meant, tell);
  return read;
}

function tellMissing(at: Place, { fields, oneOf }: FieldsShape, meant: ReadonlySet<string>, tell: Tell): void {
  for (const [key, { required, shape }] of Object.entries(fields))
    if (required === true && !meant.has(key)) tell(at, `the key '${key}' is missing`, `add ${key}: ${sayOf(shape)}`);
  const there = oneOf?.filter((key) => meant.has(key)) ?? [];
  if (oneOf === undefined || there.length === 1) return;
  const none = `one of ${oneOf.join(', ')} is missing`;
  const says = there.length === 0 ? none : `${there.join(' and ')} exclude each other`;
  tell(at, says, `use exactly one of ${oneOf.join(', ')}`);
}

function readNamed(tree: Tree, shape: NamedShape, parts: ReadParts): Json | undefined {
  if (tree.kind !== 'map') return wrong(tree, `a map (${shape.says})`, parts.tell);
  const [source, says] = shape.key;
  const usable = new RegExp(source);
  const read: Record<string, Json> = {};
  for (const [key, { keyAt, value }] of tree.entries) {
    if (!usable.test(key)) parts.tell(keyAt, `'${key.slice(0, 80)}' is not usable as a name here`, `use ${says}`);
    else put(read, key, readShape(value, shape.values, parts));
  }
  return read;
}

function readEither(tree: Tree, shape: EitherShape, parts: ReadParts): Json | undefined {
  const { mapWith } = shape;
  const hasOne = mapWith !== undefined && Object.keys(mapWith.fields).some((key) => hasKey(tree, [key]));
  const chosen = hasOne ? mapWith : tree.kind === 'scalar' ? shape.text : shape[tree.kind];
  return chosen === undefined ? wrong(tree, shape.says, parts.tell) : readShape(tree, chosen, parts);
}

/** What is written, with `${NAME}` replaced in its texts. */
function filledIn(tree: Tree, parts: ReadParts): Json {
  switch (tree.kind) {
    case 'scalar': {
      if (typeof tree.value !== 'string') return tree.value;
      const filled = substitute(tree.value, parts.env);
      if (!filled.ok) parts.tell(tree.at, filled.problem, filled.fix);
      return filled.ok ? filled.text : tree.value;
    }
    case 'list':
      return tree.items.map((each) => filledIn(each, parts));
    case 'map':
      return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, filledIn(value, parts)]));
    default:
      return unreachable(tree);
  }
}

/** What is written, as JSON. */
export function plainOf(tree: Tree): Json {
  switch (tree.kind) {
    case 'scalar':
      return tree.value;
    case 'list':
      return tree.items.map(plainOf);
    case 'map':
      return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, plainOf(value)]));
    default:
      return unreachable(tree);
  }
}

/** The place of the value at this path, or of its nearest existing parent. */
export function placeOf(tree: Tree, path: readonly (string | number)[]): Place {
  return findScalar(tree, path)?.at ?? walk(tree, path).at;
}

export function keyPlaceOf(tree: Tree, path: readonly (string | number)[]): Place {
  const around = walk(tree, path.slice(0, -1));
  const last = path.at(-1);
  return (around.kind === 'map' && typeof last === 'string' ? around.entries.get(last)?.keyAt : undefined) ?? around.at;
}

/** Whether the key is present, valid or not. */
export function hasKey(tree: Tree, path: readonly (string | number)[]): boolean {
  const around = walk(tree, path.slice(0, -1));
  return around.kind === 'map' && around.entries.has(String(path.at(-1)));
}

/** Whether a map with entries is present, valid or not. */
export function isFilled(tree: Tree, path: readonly (string | number)[]): boolean {
  const found = walk(tree, path);
  return found.kind === 'map' && found.entries.size > 0;
}

/** What stands at this path, or at its nearest existing parent. */
export function subtree(tree: Tree, path: readonly (string | number)[]): Tree {
  return walk(tree, path);
}

export function findScalar(tree: Tree, path: readonly (string | number)[]): TreeScalar | null {
  const found = walk(tree, path);
  return found.kind === 'scalar' ? found : null;
}

function walk(tree: Tree, path: readonly (string | number)[]): Tree {
  let here = tree;
  for (const step of path) {
    const next =
      here.kind === 'map'
        ? here.entries.get(String(step))?.value
        : here.kind === 'list'
          ? here.items[Number(step)]
          : undefined;
    if (next === undefined) break;
    here = next;
  }
  return here;
}

function put(object: Record<string, Json>, key: string, value: Json | undefined): void {
  if (value !== undefined) object[key] = value;
}

function wrong(tree: Tree, expected: string, tell: Tell): undefined {
  const found = tree.kind === 'scalar' ? preview(tree.value) : `a ${tree.kind}`;
  tell(tree.at, `${found} stands here`, `write ${expected}`);
}

function sayOf(shape: Shape): string {
  return shape.kind === 'again' ? '…' : `… (${shape.says})`;
}

export type Substituted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

const written = /\$\$\{|\$\{([^}]*)\}?/g;
const usable = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Without an environment the text is only checked. */
export function substitute(text: string, env: Readonly<Record<string, string | undefined>> | undefined): Substituted {
  let failed: Substituted | null = null;
  const filled = text.replace(written, (whole: string, name: string | undefined) => {
    if (whole === '$${') return env === undefined ? whole : '${';
    if (name === undefined || !whole.endsWith('}') || !usable.test(name)) {
      failed ??= {
        ok: false,
        problem: `'${whole.slice(0, 40)}' names no variable`,
        fix: 'write ${NAME}, or $${ for the signs themselves',
      };
      return '';
    }
    if (env === undefined) return whole;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined)
      failed ??= { ok: false, problem: `the environment has no ${name}`, fix: `set ${name} before starting` };
    return value ?? '';
  });
  return failed ?? { ok: true, text: filled };
}
