/**
 * Reduces ajv's errors for `anyOf` and `oneOf` to the useful ones. If one alternative was clearly meant, its errors
 * are kept. If all fail at the same discriminating field, that field lists its choices; otherwise the alternatives are
 * described.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { pointerOf, stepsOf, valueAt } from './json-pointer.ts';
import { describeSchema, expectationOf } from './expectation.ts';
import { isObject } from '../values/json.ts';

/** Beyond this nobody would read them, and comparing them all would take too long. */
const maxAlternatives = 50;

type Reach = (part: unknown) => Reachable;

export function collapseAlternatives(errors: readonly ErrorObject[], root: unknown): readonly ErrorObject[] {
  const reach = createReach(root);
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    switch (error.keyword) {
      case 'anyOf':
      case 'oneOf':
        kept.push(...settle(error, takeBelow(kept, error, reach), reach, root));
        break;
      case 'propertyNames':
      case 'contains':
        kept.push(summary(error, takeBelow(kept, error, reach).map(expectationOf)));
        break;
      default:
        kept.push(error);
    }
  }
  return kept;
}

/** The complaints that led to this one stand right before it. */
function takeBelow(kept: ErrorObject[], error: ErrorObject, reach: Reach): readonly ErrorObject[] {
  const sources = reach(error.schema);
  let start = kept.length;
  while (start > 0) {
    const before = kept[start - 1];
    if (before === undefined || !isWithin(before, error) || !sources.has(before.parentSchema)) break;
    start--;
  }
  return kept.splice(start);
}

function isWithin(inner: ErrorObject, outer: ErrorObject): boolean {
  return inner.instancePath === outer.instancePath || inner.instancePath.startsWith(`${outer.instancePath}/`);
}

function settle(
  error: ErrorObject,
  below: readonly ErrorObject[],
  reach: Reach,
  root: unknown,
): readonly ErrorObject[] {
  // It fitted several alternatives of a oneOf; what the others complain about does not matter.
  if (Array.isArray((error.params as { passingSchemas?: unknown }).passingSchemas)) return [error];
  const alternatives: readonly unknown[] = Array.isArray(error.schema) ? error.schema : [];
  if (alternatives.length > maxAlternatives) return [error];
  const branches = byBranch(below, alternatives, reach);
  const meant = branches.filter((branch) => !branch.some((each) => tellsKind(each, error)));
  if (meant.length === 1) return meant[0] ?? [];
  if (meant.length > 1) return severalMeant(error, meant);
  return (
    telltaleField(error, branches) ?? [
      summary(
        error,
        alternatives.map((each) => describeSchema(followed(each, root))),
      ),
    ]
  );
}

/** Alternatives are tried in order, so the complaints of one never stand after those of a later one. */
function byBranch(below: readonly ErrorObject[], alternatives: readonly unknown[], reach: Reach): ErrorObject[][] {
  const branches: ErrorObject[][] = alternatives.map(() => []);
  let current = 0;
  for (const error of below) {
    let index = current;
    while (index < alternatives.length && !reach(alternatives[index]).has(error.parentSchema)) index++;
    if (index < alternatives.length) current = index;
    branches[current]?.push(error);
  }
  return branches.filter((branch) => branch.length > 0);
}

const kindKeywords = new Set(['type', 'const', 'enum', 'false schema']);

/**
 * Whether the error shows that another alternative was meant: by the kind of the value, or by a discriminating field.
 */
function tellsKind(error: ErrorObject, alternative: ErrorObject): boolean {
  if (error.instancePath === alternative.instancePath) return kindKeywords.has(error.keyword);
  return isTelltale(error, alternative);
}

function isTelltale(error: ErrorObject, alternative: ErrorObject): boolean {
  const isChild = !error.instancePath.slice(alternative.instancePath.length + 1).includes('/');
  return (
    isChild &&
    error.instancePath !== alternative.instancePath &&
    (error.keyword === 'const' || error.keyword === 'enum')
  );
}

/** As in a union discriminated by `kind`: the field is wrong, and its choices are those of all alternatives. */
function telltaleField(error: ErrorObject, branches: readonly ErrorObject[][]): readonly ErrorObject[] | null {
  const right = branches.filter(
    (branch) => !branch.some((each) => each.instancePath === error.instancePath && kindKeywords.has(each.keyword)),
  );
  const telling = right.map((branch) => branch.filter((each) => isTelltale(each, error)));
  const path = telling[0]?.[0]?.instancePath;
  if (path === undefined || telling.some((branch) => branch.every((each) => each.instancePath !== path))) return null;
  const choices = telling
    .flat()
    .filter((each) => each.instancePath === path)
    .flatMap(choicesOf);
  const first = telling[0]?.[0];
  return first === undefined ? null : [{ ...first, keyword: 'enum', params: { allowedValues: [...new Set(choices)] } }];
}

function choicesOf({ keyword, params }: ErrorObject): readonly unknown[] {
  const { allowedValue, allowedValues } = params as { allowedValue?: unknown; allowedValues?: unknown };
  if (keyword === 'const') return [allowedValue];
  return Array.isArray(allowedValues) ? allowedValues : [];
}

/** If all of them complain about the place itself, any of them would do; otherwise the nearest is shown. */
function severalMeant(error: ErrorObject, meant: readonly ErrorObject[][]): readonly ErrorObject[] {
  const isAboutPlace = meant.every((branch) => branch.every((each) => each.instancePath === error.instancePath));
  if (isAboutPlace)
    return [
      summary(
        error,
        meant.map((branch) => branch.map(wordsAtPlace).join(' and ')),
      ),
    ];
  return meant.reduce((nearest, branch) => (branch.length < nearest.length ? branch : nearest));
}

function wordsAtPlace(error: ErrorObject): string {
  const { missingProperty, additionalProperty } = error.params as Record<string, unknown>;
  if (typeof missingProperty === 'string') return `a field ${pointerOf([missingProperty])}`;
  if (typeof additionalProperty === 'string') return `no field ${pointerOf([additionalProperty])}`;
  return expectationOf(error);
}

/** The complaint itself, with what would have satisfied it. */
function summary(error: ErrorObject, alternatives: readonly (string | null)[]): ErrorObject {
  const known = [...new Set(alternatives)].filter((each) => each !== null);
  return { ...error, params: { ...error.params, alternatives: known } };
}

/** A complaint from further away is only put less well. */
const maxReached = 2_000;

type Reachable = ReadonlySet<unknown>;

/** Answers for one schema, remembering each answer: the same part may fail for a thousand items. */
function createReach(root: unknown): (part: unknown) => Reachable {
  const known = new Map<unknown, Reachable>();
  return (part) => {
    let found = known.get(part);
    if (found === undefined) {
      found = collect(part, root);
      known.set(part, found);
    }
    return found;
  };
}

function collect(part: unknown, root: unknown): Reachable {
  const found = new Set<unknown>();
  const open = [part];
  while (open.length > 0 && found.size < maxReached) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || found.has(next)) continue;
    found.add(next);
    open.push(...Object.values(next), referredBy(next, root));
  }
  return found;
}

function referredBy(schema: unknown, root: unknown): unknown {
  const reference = isObject(schema) ? (schema['$ref'] ?? schema['$dynamicRef'] ?? schema['$recursiveRef']) : undefined;
  return typeof reference === 'string' && reference.startsWith('#') ? valueAt(root, pointerIn(reference)) : undefined;
}

/** The schema itself, or what it refers to, as far as references inside the document lead. */
export function followed(schema: unknown, root: unknown): unknown {
  let here = schema;
  for (let hops = 0; hops < 16; hops++) {
    const next = referredBy(here, root);
    if (next === undefined || !isObject(here) || 'type' in here) return here;
    here = next;
  }
  return here;
}

function pointerIn(reference: string): readonly string[] {
  try {
    return stepsOf(decodeURIComponent(reference.slice(1)));
  } catch {
    return [];
  }
}
