/**
 * Masks parts of arguments and results by paths such as `args.card.number`, `result.users.*.email` and
 * `args.**.password`. One walk for all paths; what is not masked is shared, not copied. A text or list where fields
 * are expected is masked whole, because it could hold them.
 */
import type { Json, JsonObject } from '../values/json.ts';
import type { PolicyLimits } from './policy-limits.ts';

export const redacted = '[redacted]';

export interface RedactProblem {
  /** Which of the paths. */
  readonly index: number;
  readonly message: string;
  readonly fix: string;
}

export type Mask = (part: 'args' | 'result', value: Json) => Json;

/** One step into the paths that have been walked so far. */
interface Node {
  readonly names: Map<string, Node>;
  /** After `*`. */
  any: Node | null;
  /** After `**`, which is also here: it may stand for nothing. */
  deep: Node | null;
  /** It is itself after `**`, and stays whatever the key. */
  readonly stays: boolean;
  ends: boolean;
}

const createNode = (stays: boolean): Node => ({ names: new Map(), any: null, deep: null, stays, ends: false });

export function compileRedact(
  paths: readonly string[],
  limits: PolicyLimits,
): { readonly mask: Mask; readonly problems: readonly RedactProblem[] } {
  const roots = { args: createNode(false), result: createNode(false) };
  const problems: RedactProblem[] = [];
  for (const [index, path] of paths.entries()) {
    const problem = problemOf(path, limits);
    if (problem === null) addPath(roots, path);
    else problems.push({ index, ...problem });
  }
  const starts = { args: withDeep([roots.args]), result: withDeep([roots.result]) };
  const isIdle = { args: isBare(roots.args), result: isBare(roots.result) };
  return {
    problems,
    mask(part, value) {
      if (isIdle[part]) return value;
      const walk: Walk = { depthLeft: limits.maxMaskDepth, hidesOthers: part === 'args' };
      return maskWithin(value, starts[part], walk);
    },
  };
}

function problemOf(path: string, { maxRedactSteps }: PolicyLimits): Omit<RedactProblem, 'index'> | null {
  const [part, ...steps] = path.split('.');
  if ((part !== 'args' && part !== 'result') || steps.length === 0)
    return {
      message: `'${path.slice(0, 80)}' does not begin with args. or result.`,
      fix: 'write where the value stands, such as args.card.number or result.users.*.email',
    };
  if (steps.length > maxRedactSteps)
    return { message: `the path has more than ${maxRedactSteps} steps`, fix: 'write ** for those that do not matter' };
  if (steps.includes('')) return { message: `'${path}' has an empty step`, fix: 'write one dot between two steps' };
  if (steps.some((step) => step !== '*' && step !== '**' && step.includes('*')))
    return { message: `'${path}' has a star beside letters`, fix: 'write * or ** as a whole step, or the whole name' };
  if (steps.at(-1) === '**')
    return { message: `'${path}' ends in **`, fix: `write ${[part, ...steps.slice(0, -1), '*'].join('.')} instead` };
  return null;
}

function addPath(roots: Readonly<Record<'args' | 'result', Node>>, path: string): void {
  const [part, ...steps] = path.split('.');
  let node = part === 'args' ? roots.args : roots.result;
  for (const step of steps) {
    if (step === '**') node = node.deep ??= createNode(true);
    else if (step === '*') node = node.any ??= createNode(false);
    else {
      const next = node.names.get(step) ?? createNode(false);
      node.names.set(step, next);
      node = next;
    }
  }
  node.ends = true;
}

const isBare = ({ names, any, deep }: Node): boolean => names.size === 0 && any === null && deep === null;

function withDeep(nodes: readonly Node[]): readonly Node[] {
  const all = new Set(nodes);
  for (const node of all) if (node.deep !== null) all.add(node.deep);
  return [...all];
}

interface Walk {
  readonly depthLeft: number;
  /**
   * Models send the JSON text of an object, or a list of it, where the object is meant: what is in there has no path.
   */
  readonly hidesOthers: boolean;
}

function maskWithin(value: Json, nodes: readonly Node[], walk: Walk): Json {
  if (walk.hidesOthers && isOther(value, nodes)) return redacted;
  if (typeof value !== 'object' || value === null || nodes.length === 0) return value;
  // INVARIANT: what is too deep to be looked through is not shown either.
  if (walk.depthLeft <= 0) return redacted;
  return Array.isArray(value) ? maskList(value, nodes, walk) : maskObject(value as JsonObject, nodes, walk);
}

/**
 * Whether a path goes on here by a field that this cannot have. `**` goes on everywhere, so it says nothing about this
 * place.
 */
function isOther(value: Json, nodes: readonly Node[]): boolean {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return false;
  return nodes.some((node) => !node.stays && (Array.isArray(value) ? hasFields(node) : !isBare(node)));
}

const hasFields = ({ names }: Node): boolean => [...names.keys()].some((name) => !/^\d+$/.test(name));

function maskList(list: readonly Json[], nodes: readonly Node[], walk: Walk): Json {
  let copy: Json[] | null = null;
  for (const [index, item] of list.entries()) {
    const masked = maskAt(item, String(index), nodes, walk);
    if (masked !== item) (copy ??= [...list])[index] = masked;
  }
  return copy ?? list;
}

function maskObject(object: JsonObject, nodes: readonly Node[], walk: Walk): Json {
  let copy: Record<string, Json> | null = null;
  for (const key of Object.keys(object)) {
    const item = object[key] as Json;
    const masked = maskAt(item, key, nodes, walk);
    // The copy has every key as its own already, so assigning never meets a setter.
    if (masked !== item) (copy ??= { ...object })[key] = masked;
  }
  return copy ?? object;
}

function maskAt(item: Json, key: string, nodes: readonly Node[], walk: Walk): Json {
  const next: Node[] = [];
  for (const node of nodes) {
    const named = node.names.get(key);
    if (named?.ends === true || node.any?.ends === true) return redacted;
    if (named !== undefined) next.push(named);
    if (node.any !== null) next.push(node.any);
    if (node.stays) next.push(node);
  }
  return maskWithin(item, withDeep(next), { ...walk, depthLeft: walk.depthLeft - 1 });
}
