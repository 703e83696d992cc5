/** Small checks of the shape of a value, put together to larger ones. */
import { isObject } from '../../../core/values/json.ts';

export type Check = (value: unknown) => boolean;

export const text: Check = (value) => typeof value === 'string';
export const whole: Check = (value) => Number.isSafeInteger(value);
export const flag: Check = (value) => typeof value === 'boolean';

export const literal =
  (wanted: string): Check =>
  (value) =>
    value === wanted;

export const oneOf = (names: object): Check => {
  const known: ReadonlySet<unknown> = new Set(Object.keys(names));
  return (value) => known.has(value);
};

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

export const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => check(item));

export const anyOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

export const object = (fields: Readonly<Record<string, Check>>): Check => {
  const entries = Object.entries(fields);
  return (value) => isObject(value) && entries.every(([name, check]) => check(value[name]));
};
