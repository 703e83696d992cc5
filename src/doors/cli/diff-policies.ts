/** What differs between two policies, agent by agent? Lines that moved are no difference. Pure. */
import type { WrittenAgent, WrittenPolicy, WrittenRule } from '../../core/policy/policy.ts';

export interface PolicyChange {
  readonly change: 'added' | 'removed' | 'changed';
  /** Null for what holds for all of them. */
  readonly agent: string | null;
  /** Sentences for a person. */
  readonly details: readonly string[];
}

export function diffPolicies(before: WrittenPolicy | null, after: WrittenPolicy | null): readonly PolicyChange[] {
  const [was, is] = [byName(before), byName(after)];
  const mode: PolicyChange[] =
    before !== null && after !== null && before.mode !== after.mode
      ? [{ change: 'changed', agent: null, details: [`mode ${before.mode} → ${after.mode}`] }]
      : [];
  const agents = [...new Set([...was.keys(), ...is.keys()])].flatMap((agent): readonly PolicyChange[] => {
    const [old, now] = [was.get(agent), is.get(agent)];
    if (now === undefined) return [{ change: 'removed', agent, details: [] }];
    if (old === undefined)
      return [{ change: 'added', agent, details: [`${counted(now.rules.length)}, ${defaultOf(now)}`] }];
    const details = [...differing(old, now)];
    return details.length === 0 ? [] : [{ change: 'changed', agent, details }];
  });
  return [...mode, ...agents];
}

const byName = (policy: WrittenPolicy | null): ReadonlyMap<string, WrittenAgent> =>
  new Map((policy?.agents ?? []).map((agent) => [agent.agent, agent]));

function differing(old: WrittenAgent, now: WrittenAgent): readonly string[] {
  const [was, is] = [old.rules.map(textOf), now.rules.map(textOf)];
  const gone = without(was, is).map((rule) => `- ${rule}`);
  const come = without(is, was).map((rule, at) => `+ ${rule} (${refOf(rule, now, at)})`);
  const moved = gone.length + come.length === 0 && was.join('\n') !== is.join('\n');
  return [
    ...gone,
    ...come,
    ...(moved ? ['the rules stand in another order'] : []),
    ...changed('default', defaultOf(old), defaultOf(now)),
    ...changed('mode', old.ceiling?.reach ?? 'any', now.ceiling?.reach ?? 'any'),
    ...changed('models', old.models?.allow.join(', ') ?? 'any', now.models?.allow.join(', ') ?? 'any'),
    ...changed('redact', old.redact.join(', '), now.redact.join(', ')),
  ];
}

const textOf = ({ effect, match, when, reason }: WrittenRule): string =>
  [`${effect} ${match}`, when === null ? '' : `when ${when}`, reason === null ? '' : `reason '${reason}'`]
    .filter((part) => part !== '')
    .join(' ');

/** Where the rule of this text stands; of several equal ones, the first. */
const refOf = (text: string, agent: WrittenAgent, fallback: number): string =>
  (agent.rules.find((rule) => textOf(rule) === text) ?? agent.rules[fallback])?.ref ?? agent.ref;

/** As often as it stands there more often. */
function without(list: readonly string[], other: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const each of other) left.set(each, (left.get(each) ?? 0) + 1);
  return list.filter((each) => {
    const count = left.get(each) ?? 0;
    left.set(each, count - 1);
    return count <= 0;
  });
}

const defaultOf = (agent: WrittenAgent): string => `default ${agent.default?.effect ?? 'deny'}`;
const changed = (name: string, was: string, is: string): readonly string[] =>
  was === is ? [] : [`${name}: ${was.replace(/^default /, '')} → ${is.replace(/^default /, '')}`];
const counted = (count: number): string => `${count} rule${count === 1 ? '' : 's'}`;
