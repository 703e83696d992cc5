/**
 * What is known before any call of the values that a condition reads: the agent, the tool's declaration, the argument
 * schema. Schema keywords that are not understood are ignored.
 */
import type { Constant, Term } from '../../cel/condition.ts';
import { isObject, type Json } from '../../values/json.ts';
import { effectClasses } from '../../taxonomy.ts';
import { reaches } from '../policy.ts';
import type { Callable } from './callable.ts';
import type { KnownRange, KnownValues } from './contradict.ts';
import { anyValue, compared, ofSorts, oneOf, type Sort, type ValueRange, wholeOnly } from './value-range.ts';

type Path = readonly (string | number)[];

/** `callable` null: any tool. */
export function knownValues(agent: string, callable: Callable | null): KnownValues {
  const name = exactly(agent, `the rules are those of agent '${agent}'`);
  return ({ path }: Term) => {
    if (path === null) return null;
    const [variable, ...inside] = path;
    if (variable === 'agent' || variable === 'principal')
      return inside.length === 1 && inside[0] === (variable === 'agent' ? 'name' : 'agent') ? name : null;
    if (variable === 'tool') return ofTool(inside, callable);
    if (variable === 'session' && inside.length === 1 && inside[0] === 'seq')
      return { range: wholeOnly(compared(anyValue, '>=', 0)), says: 'session.seq counts from 0' };
    return variable === 'args' && callable !== null ? ofSchema(inside, callable) : null;
  };
}

const exactly = (value: Constant, says: string): KnownRange => ({ range: oneOf(anyValue, [value]), says });

const closed: Readonly<Record<string, readonly string[]>> = { effect: Object.keys(effectClasses), reach: reaches };

function ofTool(inside: Path, callable: Callable | null): KnownRange | null {
  const [field] = inside;
  if (inside.length !== 1 || typeof field !== 'string') return null;
  if (callable !== null && (field === 'name' || field === 'effect' || field === 'reach'))
    return exactly(callable.tool[field], `tool.${field} of ${callable.tool.name} is '${callable.tool[field]}'`);
  const list = Object.hasOwn(closed, field) ? closed[field] : undefined;
  return list === undefined
    ? null
    : { range: oneOf(anyValue, list), says: `tool.${field} is one of ${list.join(', ')}` };
}

function ofSchema(inside: Path, { schema, tool }: Callable): KnownRange | null {
  let here: Json = schema;
  for (const step of inside) {
    const properties = isObject(here) && !('$ref' in here) ? here['properties'] : null;
    if (typeof step !== 'string' || !isObject(properties) || !Object.hasOwn(properties, step)) return null;
    here = properties[step] as Json;
  }
  const read = readKeywords(here);
  return read === null ? null : { range: read.range, says: `the schema of ${tool.name} takes only ${read.says}` };
}

/** How many values a sentence lists. */
const maxListed = 8;

/** Every keyword says something by itself, whatever stands beside it; only beside a reference nothing counts. */
function readKeywords(schema: Json): { readonly range: ValueRange; readonly says: string } | null {
  if (!isObject(schema) || '$ref' in schema) return null;
  const says: string[] = [];
  let range = anyValue;
  const listed = 'const' in schema ? [schema['const']] : schema['enum'];
  // A value that is no constant equals none, so that the list may only be used if all of it is understood.
  if (Array.isArray(listed) && listed.every(isConstant)) {
    range = oneOf(range, listed);
    const shown = listed.slice(0, maxListed).map((each) => JSON.stringify(each));
    says.push(`${shown.join(', ')}${listed.length > maxListed ? ', …' : ''}`);
  }
  const types: readonly unknown[] = [schema['type']].flat();
  const sorts = types.map((type) => (typeof type === 'string' ? sortsByType[type] : undefined));
  if (!sorts.includes(undefined)) {
    range = ofSorts(range, sorts as Sort[]);
    says.push(types.join(' or '));
    if (types.includes('integer') && !types.includes('number')) range = wholeOnly(range);
  }
  for (const [keyword, sign, words] of bounds) {
    const at = schema[keyword];
    if (typeof at !== 'number') continue;
    // A bound says something about numbers alone: it is used only if nothing else is permitted.
    if (types.every((type) => type === 'integer' || type === 'number')) {
      range = compared(range, sign, at);
      says.push(`${words} ${at}`);
    }
  }
  return says.length === 0 ? null : { range, says: says.join(', ') };
}

const isConstant = (value: unknown): value is Constant =>
  value === null || ['boolean', 'number', 'string'].includes(typeof value);

const sortsByType: Readonly<Record<string, Sort>> = {
  null: 'null',
  boolean: 'bool',
  number: 'number',
  integer: 'number',
  string: 'text',
  array: 'other',
  object: 'other',
};

const bounds = [
  ['minimum', '>=', 'from'],
  ['exclusiveMinimum', '>', 'above'],
  ['maximum', '<=', 'up to'],
  ['exclusiveMaximum', '<', 'below'],
] as const;
