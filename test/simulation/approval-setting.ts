/**
 * The policies of a simulated world in which people decide: for each tool how its calls are asked for, by whom and for
 * how long. Data only; who changes them is simulated-policy.ts, who decides is approvers.ts.
 */
import { type ApprovalTerms, defaultTerms } from '../../src/core/approval/approval.ts';
import { compilePolicy } from '../../src/core/policy/compile-policy.ts';
import type { Policy, WrittenAgent, WrittenRule } from '../../src/core/policy/policy.ts';
import { type Quotas, quotasOfAgent, sharedQuotas } from './limits/quota-setting.ts';
import { toolNames, type ToolName } from './setting.ts';

export const agents = ['ann', 'bob'] as const;
export const people = ['ana', 'ben', 'cleo'] as const;
/** Cleo may approve, but not where finance must. */
const roles = { finance: ['ana', 'ben'] };

/** Long enough for people, and short enough that a world comes to rest. */
const longMs = 50_000;
const shortMs = 6_000;

type Saying = Pick<WrittenRule, 'effect' | 'when'> & { readonly terms?: ApprovalTerms };
const defer = (terms: Partial<ApprovalTerms>, when: string | null = null): Saying => ({
  effect: 'defer',
  when,
  terms: { ...defaultTerms, expiresMs: longMs, ...terms },
});

/** What can be written about a tool. */
export const stances = {
  permit: [{ effect: 'permit', when: null }],
  deny: [{ effect: 'deny', when: null }],
  'one waits': [defer({})],
  'one waits shortly': [defer({ expiresMs: shortMs })],
  'two wait': [defer({ needed: 2 })],
  'finance waits': [defer({ needed: 2, roles: ['finance'] })],
  'one runs': [defer({ onApprove: 'run' })],
  'one runs shortly': [defer({ onApprove: 'run', expiresMs: shortMs })],
  'two run': [defer({ onApprove: 'run', needed: 2 })],
  'large ones wait': [defer({}, 'args.amount > 4'), { effect: 'permit', when: null }],
  'large ones run': [defer({ onApprove: 'run' }, 'args.amount > 4'), { effect: 'permit', when: null }],
  'its user may': [defer({ clientMayApprove: true })],
} as const satisfies Record<string, readonly Saying[]>;

export type Stance = keyof typeof stances;

export interface SimulatedPolicy {
  readonly stances: Readonly<Record<ToolName, Stance>>;
  /** Moves lines, reasons, the order of rules about different tools, and a rule about none: decides nothing. */
  readonly layout: number;
  /** Rate limits and budgets; they stay what they are. */
  readonly quotas?: Quotas | null;
}

export const permitAll = Object.fromEntries(toolNames.map((tool) => [tool, 'permit'])) as SimulatedPolicy['stances'];

const compiled = new Map<string, Policy>();

/** Each one is compiled once for all worlds. */
export function policyOf(policy: SimulatedPolicy): Policy {
  const name = JSON.stringify(policy);
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const written = {
    mode: 'enforce',
    ref: 'recourse.yaml:4',
    agents: agents.map((agent) => agentOf(agent, policy)),
    roles,
    ...sharedQuotas(policy.quotas ?? null, agents),
  } as const;
  const made = compilePolicy(written, null);
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  compiled.set(name, made.policy);
  return made.policy;
}

function agentOf(agent: string, { stances: chosen, layout, quotas = null }: SimulatedPolicy): WrittenAgent {
  const from = layout % toolNames.length;
  const order = [...toolNames.slice(from), ...toolNames.slice(0, from)];
  const unrelated: WrittenRule = { effect: 'deny', match: `other${layout}/*`, when: null, reason: null, ref: '' };
  const said = order.flatMap((tool) =>
    stances[chosen[tool]].map((saying: Saying): WrittenRule => ({
      ...saying,
      match: tool,
      reason: layout % 2 === 0 ? null : `reason ${layout}`,
      ref: '',
    })),
  );
  const rules = (layout % 3 === 0 ? said : [unrelated, ...said]).map((rule, index) => ({
    ...rule,
    ref: `recourse.yaml:${10 + layout + index}`,
  }));
  const limited = quotasOfAgent(quotas, 100 + layout);
  return { agent, ref: 'recourse.yaml:5', default: null, rules, ceiling: null, models: null, redact: [], ...limited };
}
