/** What is declared about the recovery of simulated tools: who shares an upstream, the read that settles doubts. */
import type { ToolEntry } from '../../../src/core/call/catalogue.ts';
import { joinRecovery } from '../../../src/core/recovery/declared.ts';
import type { BreakerRule, Probed, Reconcile, ToolRecovery } from '../../../src/core/recovery/playbook.ts';
import { isObject, type Json } from '../../../src/core/values/json.ts';
import { findTool, isToolName, quarantineMs, type ToolName, wildClockMs } from '../setting.ts';

/** Breaker and retry budget are kept for each upstream. */
const upstreams: Readonly<Record<ToolName, string>> = { read: 'bank', charge: 'bank', refund: 'bank', mail: 'post' };
const breakers: Readonly<Record<string, BreakerRule>> = { bank: { failures: 2, openMs: 3_000 } };

/** INVARIANT: what the witness believes of an upstream is written here, not read from any gateway. */
export const upstreamOf = (tool: string): string => (isToolName(tool) ? upstreams[tool] : tool);
export const breakerOf = (upstream: string): BreakerRule | null => breakers[upstream] ?? null;

const reconcile: Reconcile = { tool: findTool, ask: (args) => args, interpret: readFound, declared: findTool };

function readFound(_args: Json, found: Json): Probed {
  const happened = isObject(found) ? found['happened'] : null;
  if (happened === true) return { kind: 'happened', result: found };
  return happened === false ? { kind: 'did_not' } : { kind: 'unclear', reason: 'the answer says neither' };
}

/** Mail cannot be asked for: its doubts wait for a person. */
const readable: ReadonlySet<string> = new Set(['charge', 'refund']);

/**
 * Where clocks may jump by days, the quarantine is longer than any jump: it is counted by the clock, so a shorter one
 * would promise nothing there.
 */
export function declareRecovery(wildClocks: boolean): (tool: ToolEntry) => ToolRecovery {
  const known = new Map<string, ToolRecovery>();
  const waitMs = wildClocks ? 3 * wildClockMs : quarantineMs;
  return ({ invokes }) => {
    const upstream = upstreamOf(invokes);
    const read = readable.has(invokes) ? { reconcile } : {};
    const declared = { quarantineMs: waitMs, breaker: breakerOf(upstream), ...read };
    const found = known.get(invokes) ?? joinRecovery(upstream, [declared]);
    known.set(invokes, found);
    return found;
  };
}
