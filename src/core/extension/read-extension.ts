/**
 * Reads what a module exports as an extension: whether it has the shape, speaks our version of the contract, and what
 * it adds. Total: the module may export anything, objects that throw when they are read included. Runs none of it.
 */
import { isObject } from '../values/json.ts';
import { nearest } from '../values/nearest.ts';
import { extensionLimits as limits } from './extension-limits.ts';
import {
  type Addition,
  additions,
  contractVersion,
  type ExtensionCode,
  type ExtensionProblem,
  type ExtensionShape,
} from './extension-shape.ts';

export type ReadExtension =
  | { readonly ok: true; readonly shape: ExtensionShape }
  | { readonly ok: false; readonly problems: readonly ExtensionProblem[] };

type Told = (message: string, fix: string, code?: ExtensionCode) => void;
type Fields = Readonly<Record<string, unknown>>;

const nameForm = /^[A-Za-z0-9_-]{1,64}$/;
const keys = [
  'name',
  'contract',
  'needs',
  'settings',
  'start_timeout_seconds',
  'stop_timeout_seconds',
  ...additions,
  'start',
  'stop',
];

/** `called`: by which name it is known here, for problems of one that has none. */
export function readExtension(exported: unknown, called: string): ReadExtension {
  const problems: ExtensionProblem[] = [];
  let name = called;
  const tell: Told = (message, fix, code = 'ShapeInvalid') => {
    problems.push({ code, extension: name, message: `the extension '${name}' ${message}`, fix });
  };
  try {
    if (!isObject(exported)) {
      tell('is no extension', 'write export const extension = defineExtension({ name, contract: 1, … })');
      return { ok: false, problems };
    }
    const fields = exported as Fields;
    if (typeof fields['name'] === 'string' && nameForm.test(fields['name'])) name = fields['name'];
    else tell('has no usable name', 'give it a name of 1 to 64 letters, digits, _ or -');
    // Another version may have another shape: nothing else is looked at.
    if (fields['contract'] !== contractVersion) tellVersion(fields['contract'], tell);
    else tellShape(fields, tell);
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, shape: shapeOf(name, fields) };
  } catch {
    tell('cannot be read: a field of it throws', 'export a plain object');
    return { ok: false, problems };
  }
}

function tellVersion(contract: unknown, tell: Told): void {
  if (typeof contract !== 'number')
    return tell('does not say for which contract it is written', `add contract: ${contractVersion}`);
  const fix = contract > contractVersion ? 'use a newer gateway, or an older extension' : 'use a newer extension';
  tell(
    `is written for version ${contract} of the contract, and this gateway has version ${contractVersion}`,
    fix,
    'ContractVersionMismatch',
  );
}

function tellShape(fields: Fields, tell: Told): void {
  for (const key of Object.keys(fields))
    if (!keys.includes(key)) {
      const near = nearest(key, keys);
      tell(`has a key '${key.slice(0, 80)}' that means nothing`, near === null ? 'remove it' : `did you mean ${near}?`);
    }
  for (const key of ['start', 'stop'])
    if (fields[key] !== undefined && typeof fields[key] !== 'function')
      tell(`has a ${key} that is no function`, 'correct it');
  for (const key of ['start_timeout_seconds', 'stop_timeout_seconds'])
    if (!isTimeout(fields[key]))
      tell(`has a ${key} that is no usable time`, `use a number above 0, at most ${limits.maxTimeoutMs / 1_000}`);
  if (fields['settings'] !== undefined && !isObject(fields['settings']))
    tell('has settings that are no JSON Schema', 'describe its settings by an object');
  const { needs } = fields;
  if (needs !== undefined && !isNames(needs))
    tell('has needs that is no list of names', "write the names of extensions: needs: ['other']");
  for (const addition of additions) tellAdded(addition, fields[addition], tell);
}

function tellAdded(addition: Addition, added: unknown, tell: Told): void {
  if (added === undefined) return;
  if (!isObject(added)) return tell(`has ${addition} that are no object`, 'write them by name: { name: … }');
  const entries = Object.entries(added);
  if (entries.length > limits.maxNames) tell(`adds more than ${limits.maxNames} ${addition}`, 'add fewer');
  for (const [kind, value] of entries.slice(0, limits.maxNames)) {
    if (!nameForm.test(kind))
      tell(`adds ${addition} under the name '${kind.slice(0, 80)}'`, 'use 1 to 64 letters, digits, _ or -');
    const lacks = whatLacks(addition, value);
    if (lacks !== null) tell(`adds '${kind}' to its ${addition} without ${lacks}`, `add ${lacks}`);
  }
}

/** What an entry must have, by what it is; null if it has that. */
function whatLacks(addition: Addition, value: unknown): string | null {
  if (addition === 'validators' || addition === 'costs') return typeof value === 'function' ? null : 'a function';
  if (!isObject(value)) return 'an object that describes it';
  const fields = value as Fields;
  if (addition === 'models') return isObject(fields['protocol']) && 'url' in fields ? null : 'a protocol and a url';
  if (typeof fields['create'] !== 'function') return 'a function create';
  if (fields['settings'] !== undefined && !isObject(fields['settings'])) return 'settings that are a JSON Schema';
  const { tools } = fields;
  const hasTools = addition !== 'upstreams' || Array.isArray(tools) || typeof tools === 'function';
  return hasTools ? null : 'tools';
}

const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= limits.maxNames && value.every((each) => typeof each === 'string');

const isTimeout = (value: unknown): boolean =>
  value === undefined || (typeof value === 'number' && value > 0 && value * 1_000 <= limits.maxTimeoutMs);

function shapeOf(name: string, fields: Fields): ExtensionShape {
  const ms = (key: string, otherwise: number) => {
    const seconds = fields[key];
    return typeof seconds === 'number' ? seconds * 1_000 : otherwise;
  };
  const namesOf = (addition: Addition): readonly string[] => Object.keys(fields[addition] ?? {});
  return {
    name,
    contract: contractVersion,
    needs: [...((fields['needs'] ?? []) as readonly string[])],
    startTimeoutMs: ms('start_timeout_seconds', limits.startTimeoutMs),
    stopTimeoutMs: ms('stop_timeout_seconds', limits.stopTimeoutMs),
    adds: {
      upstreams: namesOf('upstreams'),
      models: namesOf('models'),
      credentials: namesOf('credentials'),
      notifiers: namesOf('notifiers'),
      validators: namesOf('validators'),
      costs: namesOf('costs'),
    },
  };
}
