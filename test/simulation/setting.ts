/** The fixed furniture of every simulated world: its tools, their timeouts, and the limits of its gateways. */
import type { Catalogue, FieldError, ToolEntry } from '../../src/core/call/catalogue.ts';
import { isObject, type Json } from '../../src/core/values/json.ts';
import { defaultLimits, type Limits } from '../../src/core/limits.ts';
import type { EffectClass } from '../../src/core/taxonomy.ts';

/** No attempt is executed later than this after it was sent. */
export const latestExecutionMs = 20_000;
/** A sixth of it must cover the latest execution, the clocks' disagreement and the send window. */
export const dedupeWindowMs = 180_000;
/** How far the clock of any node may be from the world's. */
export const clockErrorMs = 4_000;
/** And how far it may jump where only safety is promised: further than anything is kept. */
export const wildClockMs = 9 * 86_400_000;
/** From the doubt to a probe whose no is a proof: no lease, late execution or send window is longer. */
export const quarantineMs = 35_000;

export const limits: Limits = {
  ...defaultLimits,
  defaultDeadlineMs: 60_000,
  sweepEveryMs: 1_500,
  maxInFlight: 12,
};

export const toolNames = ['read', 'charge', 'refund', 'mail'] as const;
export type ToolName = (typeof toolNames)[number];

/** INVARIANT: what the world believes of a tool is written here, not read from any store. */
export const classOf: Readonly<Record<ToolName, EffectClass>> = {
  read: 'pure',
  charge: 'keyed',
  refund: 'probeable',
  mail: 'plain',
};

const positive = (args: Json): readonly FieldError[] => {
  const amount = isObject(args) ? args['amount'] : null;
  return typeof amount === 'number' && amount > 0
    ? []
    : [{ path: '/amount', expected: 'a positive number', got: null }];
};

function operationIn(args: Json): string | null {
  const operation = isObject(args) ? args['operation'] : null;
  return typeof operation === 'string' ? operation : null;
}

function entry(name: string, effectClass: EffectClass, timeoutMs: number, change: Partial<ToolEntry> = {}): ToolEntry {
  return {
    name,
    description: `the ${effectClass} tool`,
    effectClass,
    timeoutMs,
    dedupeWindowMs: null,
    reportsWithinMs: null,
    input: { kind: 'anything' },
    invokes: name,
    inputSchema: null,
    listing: null,
    policyName: name,
    reach: 'destructive',
    host: null,
    manifest: JSON.stringify({ effect_class: effectClass, name }),
    ...change,
  };
}

export const tools: Readonly<Record<ToolName, ToolEntry>> = {
  read: entry('read', classOf.read, 1_000),
  charge: entry('charge', classOf.charge, 2_000, { dedupeWindowMs, input: { kind: 'schema', check: positive } }),
  refund: entry('refund', classOf.refund, 1_500, { input: { kind: 'validator' }, operationKey: operationIn }),
  mail: entry('mail', classOf.mail, 1_000),
};

/** The read that tells whether a call took effect; agents do not use it. */
export const findTool = 'find';

export const catalogue: Catalogue = new Map([
  ...toolNames.map((name) => [name, tools[name]] as const),
  [findTool, entry(findTool, 'pure', 1_000)],
]);

export const isToolName = (name: string): name is ToolName => (toolNames as readonly string[]).includes(name);
