/** To which agents could nothing ever be permitted? Asked of every tool that is known, or else of the rules themselves. */
import type { Callable } from './callable.ts';
import { mayPermit, type ReadAgent } from './may-permit.ts';
import type { Denied, PolicyFinding } from './policy-analysis.ts';
import type { ProofWork } from './proof-work.ts';
import { decidesAlways } from './read-rules.ts';

/** How many tools the proof names. */
const maxNamed = 8;

/** `dead` are the rules that are proven never to decide. */
export function findIdle(
  agent: ReadAgent,
  callables: readonly Callable[] | null,
  dead: ReadonlySet<number>,
  work: ProofWork,
): PolicyFinding | null {
  const { written } = agent.policy;
  const denied = callables === null ? deniedByRules(agent, dead) : deniedTools(agent, callables, work);
  if (denied === null) return null;
  const shown = denied.slice(0, maxNamed).map(({ tool, ref }) => `${tool} is denied at ${ref}`);
  const more = denied.length > maxNamed ? ` and ${denied.length - maxNamed} more` : '';
  return {
    kind: 'idle_agent',
    severity: 'warning',
    agent: agent.name,
    rule: null,
    refs: [written.ref],
    message: `nothing could ever be permitted to ${agent.name}`,
    fix: 'add a rule that permits or defers a tool, or delete the agent',
    counterexample: { kind: 'denied', says: `${shown.join(', ') || 'there are no tools at all'}${more}`, denied },
    mayBreak: false,
  };
}

function deniedTools(agent: ReadAgent, callables: readonly Callable[], work: ProofWork): readonly Denied[] | null {
  const denied: Denied[] = [];
  for (const callable of callables) {
    const { may, ref } = mayPermit(agent, callable, null, work);
    if (may) return null;
    denied.push({ action: callable.tool.name, tool: callable.tool.name, ref });
  }
  return denied;
}

/** Without knowing the tools: no rule that can decide permits anything, and neither does the default. */
function deniedByRules({ rules, policy: { written } }: ReadAgent, dead: ReadonlySet<number>): readonly Denied[] | null {
  const live = rules.filter(({ index }) => !dead.has(index));
  if (live.some(({ written: rule, always }) => rule.effect !== 'deny' && always !== 'broken')) return null;
  const last = live.find((rule) => rule.pattern.text === '**' && decidesAlways(rule))?.written;
  const { effect, ref } = last ?? written.default ?? { effect: 'deny', ref: written.ref };
  return effect === 'deny' || last !== undefined ? [{ action: 'every tool', tool: 'every tool', ref }] : null;
}
