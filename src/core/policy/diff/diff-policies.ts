/**
 * Compares two policies agent by agent, weakenings first. Works on the text that is hashed: whatever changes the hash
 * is reported, and moved lines are not. Pure.
 */
import type { Json } from '../../values/json.ts';
import { spellOut } from '../../values/quote.ts';
import type { Policy } from '../policy.ts';
import { agentTable, diffFields, type Fields, isFields, plainText, policyTable } from './diff-fields.ts';
import { diffRules } from './diff-rules.ts';
import type { RuleList } from './judge-rules.ts';
import type { Direction, PolicyChange, PolicyDetail } from './policy-change.ts';

type Hashed = Pick<Policy, 'canonical' | 'written'>;

export function diffPolicies(before: Hashed | null, after: Hashed | null): readonly PolicyChange[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const { agents: _was, ...frameWas } = was;
  const { agents: _is, ...frameIs } = is;
  const frame = before === null || after === null ? [] : diffFields(frameWas, frameIs, policyTable);
  const [old, now] = [agentsIn(was), agentsIn(is)];
  const agents = [...new Set([...old.keys(), ...now.keys()])].flatMap((agent): readonly PolicyChange[] => {
    const [one, other] = [old.get(agent), now.get(agent)];
    if (other === undefined) return [{ change: 'removed', agent, details: [nothingMore] }];
    if (one === undefined) return [{ change: 'added', agent, details: [introduced(other)] }];
    return changed(agent, diffAgent(listOf(one, agent, before), listOf(other, agent, after), one, other));
  });
  return [...changed(null, frame), ...agents].toSorted((a, b) => worst(a) - worst(b));
}

const order: readonly Direction[] = ['weaker', 'maybe_weaker', 'other', 'stronger'];
const placeOf = ({ direction }: PolicyDetail): number => order.indexOf(direction);
const worst = ({ details }: PolicyChange): number => Math.min(...details.map(placeOf));

const changed = (agent: string | null, details: readonly PolicyDetail[]): readonly PolicyChange[] =>
  details.length === 0
    ? []
    : [{ change: 'changed', agent, details: details.toSorted((a, b) => placeOf(a) - placeOf(b)) }];

const nothingMore: PolicyDetail = { says: 'its calls are denied from now on', direction: 'stronger' };

const fieldsOf = (policy: Hashed | null): Fields =>
  policy === null ? {} : (JSON.parse(policy.canonical) as { readonly [key: string]: Json });

const agentsIn = ({ agents }: Fields): ReadonlyMap<string, Fields> =>
  new Map(isFields(agents) ? Object.entries(agents).map(([name, agent]) => [name, agent as Fields]) : []);

const rulesIn = ({ rules }: Fields): readonly Fields[] => (Array.isArray(rules) ? (rules as readonly Fields[]) : []);

function listOf(agent: Fields, name: string, policy: Hashed | null): RuleList {
  const written = policy?.written.agents.find((each) => each.agent === name);
  const refOf = (index: number) => spellOut(written?.rules[index]?.ref ?? written?.ref ?? name);
  return { rules: rulesIn(agent), otherwise: { effect: agent['default'], terms: agent['terms'] }, refOf };
}

function diffAgent(was: RuleList, is: RuleList, before: Fields, after: Fields): readonly PolicyDetail[] {
  const { rules: _was, completion: gateWas, ...frameWas } = before;
  const { rules: _is, completion: gateIs, ...frameIs } = after;
  return [
    ...diffRules(was, is),
    // How a default of another effect wants to be asked for is no change of its own.
    ...diffFields(...withoutTerms(frameWas, frameIs), agentTable),
    ...diffCompletion(gateWas, gateIs),
  ];
}

function withoutTerms(was: Fields, is: Fields): readonly [Fields, Fields] {
  if (was['default'] === is['default']) return [was, is];
  const { terms: _was, ...before } = was;
  const { terms: _is, ...after } = is;
  return [before, after];
}

function diffCompletion(was: Json | undefined, is: Json | undefined): readonly PolicyDetail[] {
  if (was !== undefined && is !== undefined) return diffFields({ completion: was }, { completion: is }, agentTable);
  if (was === is) return [];
  if (is === undefined) return [{ says: 'completion: nothing is asked for any more', direction: 'weaker' }];
  const asked = isFields(is) ? Object.entries(is).filter(([, value]) => value !== null) : [];
  const said = asked.map(([name, value]) => `${name} ${plainText(value)}`);
  return [{ says: `completion: ${said.join(', ') || 'none'}`, direction: 'stronger' }];
}

/** Whoever is not known may do nothing; an agent that may do something is more than that. */
function introduced(agent: Fields): PolicyDetail {
  const rules = rulesIn(agent);
  const count = `${rules.length} rule${rules.length === 1 ? '' : 's'}`;
  const may = agent['default'] !== 'deny' || rules.some(({ effect }) => effect !== 'deny');
  return { says: `${count}, default ${plainText(agent['default'])}`, direction: may ? 'weaker' : 'other' };
}
