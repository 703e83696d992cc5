/** Checks the options of createGateway. An unknown key is an error, so that a misspelt limit is not ignored. */
import { preview } from '../core/values/canonical.ts';
import { isObject } from '../core/values/json.ts';
import { defaultLimits, type Limits } from '../core/limits.ts';
import { nearest } from '../core/values/nearest.ts';

const optionNames = [
  'tools',
  'workflows',
  'servers',
  'upstreams',
  'extensions',
  'credentials',
  'file',
  'newStore',
  'agent',
  'tenant',
  'policy',
  'playbook',
  'tickets',
  'limits',
  'onNotice',
];

/** The first problem, as a sentence that says what to do; null if there is none. */
export function problemWithOptions(options: unknown): string | null {
  if (!isObject(options)) return 'createGateway needs an object: { tools: [...] }';
  const stranger = unknownKey(options, optionNames);
  if (stranger !== null) return `option ${stranger}`;
  const nothing = ['tools', 'workflows', 'servers', 'upstreams'].every((name) => options[name] === undefined);
  if (nothing)
    return 'option `tools` must be a list of tools made with tool({...}); or give `workflows`, `servers` or `upstreams`';
  for (const [name, what] of lists)
    if (options[name] !== undefined && !Array.isArray(options[name]))
      return `option \`${name}\` must be a list of ${what}`;
  for (const name of ['file', 'agent', 'tenant'])
    if (options[name] !== undefined && !isName(options[name], name === 'file' ? 4_096 : defaultLimits.maxNameChars))
      return `option \`${name}\` must be a text that is not empty, not ${preview(options[name])}`;
  for (const [name, type, what] of types)
    if (options[name] !== undefined && typeof options[name] !== type) return `option \`${name}\` must be ${what}`;
  return options['limits'] === undefined ? null : problemWithLimits(options['limits']);
}

const lists = [
  ['tools', 'tools made with tool({...})'],
  ['workflows', 'workflows made with mount(machine, {...})'],
  ['servers', 'MCP servers'],
  ['extensions', 'extensions made with defineExtension({...})'],
] as const;

const types = [
  ['newStore', 'boolean', 'true or false'],
  ['onNotice', 'function', 'a function'],
] as const;

/** Limits that may be 0; all others must be at least 1. */
const mayBeZero: ReadonlySet<string> = new Set([
  'attachWindowMs',
  'coalesceWindowMs',
  'exhaustedEndsTurn',
  'keyRetentionMs',
  'leaseMarginMs',
  'maxCoalesced',
  'maxUnrecorded',
]);

function problemWithLimits(limits: unknown): string | null {
  if (!isObject(limits)) return 'option `limits` must be an object';
  const stranger = unknownKey(limits, Object.keys(defaultLimits));
  if (stranger !== null) return `limit ${stranger}`;
  for (const [name, value] of Object.entries(limits)) {
    const isList = Array.isArray(defaultLimits[name as keyof Limits]);
    const least = mayBeZero.has(name) ? 0 : 1;
    const right = isList ? Array.isArray(value) && value.every(isAmount) : isAmount(value) && value >= least;
    if (!right)
      return `limit \`${name}\` must be ${isList ? 'a list of whole numbers' : `a whole number from ${least}`}, not ${preview(value)}`;
  }
  return null;
}

function unknownKey(value: Record<string, unknown>, known: readonly string[]): string | null {
  const stranger = Object.keys(value).find((key) => !known.includes(key));
  if (stranger === undefined) return null;
  const near = nearest(stranger, known);
  return `\`${stranger}\` is not known${near === null ? `; there are ${known.join(', ')}` : `; did you mean \`${near}\`?`}`;
}

const isName = (value: unknown, maxChars: number) =>
  typeof value === 'string' && value !== '' && value.length <= maxChars;
const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
