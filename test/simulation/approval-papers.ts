/**
 * What the records and the policies of a simulated world say about a call, read apart from the gateway: its form, its
 * rules, its judgement.
 */
import type { Json } from '../../src/core/values/json.ts';
import type { Judgement, Policy } from '../../src/core/policy/policy.ts';
import { hashing, type MemoryRecord } from './memory-journal.ts';
import { classOfName, toolBehind } from './workflow-setting.ts';

/** What the record of a held call or of an intent says of arguments and policy; null if it is not there. */
export function papersOf(records: readonly MemoryRecord[], kind: 'held' | 'prepared') {
  const record = records.find((one) => one.kind === kind);
  if (record === undefined) return null;
  const payload = record.payloads?.[record.parts.indexOf('args')];
  const { policy } = JSON.parse(record.body) as { policy?: string | null };
  return {
    policy: policy ?? null,
    args: payload === undefined || payload === null ? 'null' : hashing.text(payload.bytes),
  };
}

/** `policy`: the one with this hash, if there ever was one. */
export function readPolicies(policy: (hash: string) => Policy | null) {
  const agentOf = (hash: string | null, agent: string) => (hash === null ? undefined : policy(hash)?.agents.get(agent));
  return {
    /** Null where no policy was in force. */
    judged(hash: string | null, agent: string, tool: string, args: Json): Judgement | null {
      const found = agentOf(hash, agent);
      const effect = classOfName(tool);
      if (found === undefined || effect === null) return null;
      return found.judge({
        tool: { name: toolBehind(tool), effect, reach: 'destructive', annotations: {} },
        args,
        agent: { name: agent },
        principal: { tenant: '', agent },
        session: { id: null, seq: 0, workflow: null },
        state: null,
        model: null,
        host: null,
        nowMs: 0,
      });
    },
    rulesOf: (hash: string | null, agent: string, tool: string): string =>
      agentOf(hash, agent)?.canonicalFor(toolBehind(tool)) ?? 'no rules',
  };
}
