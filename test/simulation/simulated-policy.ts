/**
 * The policy of a simulated world, and the operator who changes it. Every gateway reads it for itself, some of them
 * later than others: for a while two of them may decide by different rules. Remembers every policy that ever was, by
 * its hash.
 */
import { createHash } from 'node:crypto';
import type { Policy } from '../../src/core/policy/policy.ts';
import { policyOf, type SimulatedPolicy, type Stance, stances } from './approval-setting.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { toolNames, type ToolName } from './setting.ts';

/** How long a gateway may go on with the rules of before. */
const readWithinMs = 2_500;
const names = Object.keys(stances) as readonly Stance[];
const deferring = names.filter((name) => name !== 'permit' && name !== 'deny');

export type Policies = ReturnType<typeof createPolicies>;

export function createPolicies(random: Random, scheduler: Scheduler, given?: Partial<SimulatedPolicy>) {
  const draw = () => (random.chance(0.8) ? random.pick(deferring) : random.chance(0.8) ? 'permit' : 'deny');
  const drawn = () => Object.fromEntries(toolNames.map((tool) => [tool, draw()])) as SimulatedPolicy['stances'];
  let latest: SimulatedPolicy = { layout: 0, ...given, stances: given?.stances ?? drawn() };
  const byHash = new Map<string, Policy>();
  const read = new Map<string, { readonly version: number; readonly policy: Policy }>();
  const remember = (policy: Policy) => {
    byHash.set(createHash('sha256').update(policy.canonical).digest('hex'), policy);
    return policy;
  };
  let now = { version: 0, policy: remember(policyOf(latest)) };
  const apply = (next: SimulatedPolicy, gateways: readonly string[]) => {
    const before = now;
    const after = { version: before.version + 1, policy: remember(policyOf(next)) };
    latest = next;
    now = after;
    for (const name of gateways) {
      if (!read.has(name)) read.set(name, before);
      scheduler.after(random.between(0, readWithinMs), null, '', () => {
        // Nobody goes back to rules that they have replaced.
        if ((read.get(name)?.version ?? 0) < after.version) read.set(name, after);
      });
    }
  };
  return {
    of: (gateway: string): Policy => (read.get(gateway) ?? now).policy,
    byHash: (hash: string): Policy | null => byHash.get(hash) ?? null,
    latest: () => latest,
    /** Other words and places, the same rules. */
    rewrite(gateways: readonly string[]): void {
      scheduler.say(() => 'operator: writes the policy anew, and changes nothing');
      apply({ ...latest, layout: latest.layout + random.between(1, 5) }, gateways);
    },
    /** Other rules about one tool; those about the others stay. */
    change(
      gateways: readonly string[],
      tool: ToolName = random.pick(toolNames),
      stance: Stance = random.chance(0.5) ? draw() : random.pick(names),
    ): void {
      scheduler.say(() => `operator: from now on ${tool} is '${stance}'`);
      const layout = latest.layout + random.between(0, 1);
      apply({ ...latest, stances: { ...latest.stances, [tool]: stance }, layout }, gateways);
    },
  };
}
