/**
 * Checks every key of a machine's configuration. XState ignores unknown keys, and supports features that a workflow
 * cannot keep; those are refused by name.
 */
import { isObject } from '../../values/json.ts';
import { listOf, unknownKeys } from './reading.ts';

const stateKeys = [
  'id',
  'type',
  'initial',
  'states',
  'on',
  'always',
  'after',
  'onDone',
  'entry',
  'exit',
  'history',
  'target',
  'description',
  'tags',
  'meta',
];
const rootKeys = [...stateKeys, 'version', 'context', 'types', 'schemas', 'options'];
const edgeKeys = ['target', 'guard', 'actions', 'reenter', 'description', 'meta'];
const stateTypes = ['atomic', 'compound', 'parallel', 'final', 'history'];

const refusedKeys: Readonly<Record<string, string>> = {
  invoke: 'a workflow runs nothing by itself; make it an action that an agent takes',
  output: 'a workflow has no output; assign what matters to the context',
  input: 'a workflow takes no input; let its first action bring it',
  route: 'routes are not possible; write the edges',
};

const maxDepth = 64;
const maxNameChars = 64;

/** Finds everything; must not run anything of the author's. `place` is how the state is called in a message. */
export function checkConfig(config: unknown, place: string, depth: number, problems: string[]): void {
  if (depth > maxDepth) {
    problems.push(`${place}: states are nested deeper than ${maxDepth}`);
    return;
  }
  if (!isObject(config)) {
    problems.push(`${place}: is not an object`);
    return;
  }
  const known = depth === 0 ? rootKeys : stateKeys;
  for (const [key, fix] of Object.entries(refusedKeys)) {
    if (config[key] !== undefined) problems.push(`${place}: '${key}' is not possible; ${fix}`);
  }
  // What was refused by name is not told twice, and never offered in the place of another.
  const others = Object.entries(config).filter(([key]) => !Object.hasOwn(refusedKeys, key));
  unknownKeys(Object.fromEntries(others), known, place, problems);
  const { type, options } = config;
  if (type !== undefined && !stateTypes.includes(String(type))) {
    problems.push(`${place}: type '${String(type).slice(0, 40)}' is unknown; use one of ${stateTypes.join(', ')}`);
  }
  if (isObject(options)) unknownKeys(options, ['maxIterations'], `${place}, its options`, problems);
  checkEdges(config, place, problems);
  checkStates(config['states'], place, depth, problems);
}

function checkEdges(config: Record<string, unknown>, place: string, problems: string[]): void {
  for (const [event, edges] of fieldsOf(config['on'])) {
    if (event.includes('*')) {
      problems.push(`${place}: '${event}' stands for many events; name each action that is legal here`);
    }
    if (event.startsWith('xstate.')) {
      problems.push(`${place}: '${event}' belongs to XState; use after, onDone or always instead`);
    }
    checkEach(edges, `edge '${event}' of ${place}`, problems);
  }
  for (const [delay, edges] of fieldsOf(config['after'])) checkEach(edges, `after ${delay} of ${place}`, problems);
  checkEach(config['always'], `always of ${place}`, problems);
  checkEach(config['onDone'], `onDone of ${place}`, problems);
  const { initial } = config;
  if (isObject(initial))
    unknownKeys(initial, ['target', 'actions', 'description', 'meta'], `${place}, initial`, problems);
}

function checkEach(edges: unknown, place: string, problems: string[]): void {
  for (const edge of listOf(edges)) {
    if (edge === undefined || typeof edge === 'string') continue;
    if (isObject(edge)) unknownKeys(edge, edgeKeys, place, problems);
    else problems.push(`${place}: is neither a target nor { target, guard, actions }`);
  }
}

function checkStates(states: unknown, place: string, depth: number, problems: string[]): void {
  for (const [name, state] of fieldsOf(states)) {
    const inside = depth === 0 ? `state '${name}'` : place.replace(/'$/, `.${name}'`);
    if (!isStateName(name)) {
      problems.push(
        `${inside}: its name is not usable; use 1 to ${maxNameChars} visible characters, without . # * and \\, and no space at either end`,
      );
    }
    checkConfig(state, inside, depth + 1, problems);
  }
}

/** Paths are joined by dots, ids begin with #, and a name stands in messages and drawings. */
function isStateName(name: string): boolean {
  return name.length <= maxNameChars && /^[^.#*\\\p{C}]+$/u.test(name) && name.trim() === name && name !== '__proto__';
}

function fieldsOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : [];
}
