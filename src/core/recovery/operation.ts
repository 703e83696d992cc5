/**
 * Which calls outside workflows are the same operation, by the tool's declared key. A call whose key cannot be told
 * may be any operation of its tool. Pure.
 */
import type { ToolEntry } from '../call/catalogue.ts';
import type { Json } from '../values/json.ts';

/** Null if the tool declares no key: then no call fences another. */
export function operationOfCall({ policyName, operationKey }: ToolEntry, args: Json): string | null {
  if (operationKey === undefined) return null;
  const key = operationKey(args);
  return key === null ? policyName : `${policyName}#${key}`;
}

/** Whether two operations may be the same. */
export function mayBeSame(one: string, other: string): boolean {
  return one === other || isAnyOf(one, other) || isAnyOf(other, one);
}

const isAnyOf = (tool: string, operation: string): boolean => !tool.includes('#') && operation.startsWith(`${tool}#`);
