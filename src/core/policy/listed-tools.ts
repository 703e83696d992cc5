/** The tools that are listed to an agent: those of which some call could be permitted. */
import type { Catalogue, ToolEntry } from '../call/catalogue.ts';
import type { PolicyFact } from '../gates/facts.ts';
import type { AgentPolicy, Reach } from './policy.ts';
import { policyTool } from './rule-call.ts';
import { isBeyond } from './session-ceiling.ts';

/** In audit mode everything may run, so everything is listed. `ceiling` is that of the session. */
export function isListed(entry: ToolEntry, policy: PolicyFact | undefined, ceiling: Reach | null = null): boolean {
  if (isBeyond(entry.reach, ceiling) && policy?.mode !== 'audit') return false;
  if (policy?.mode === 'audit') return true;
  const exactly = entry.isReversal === true ? 'exactly' : undefined;
  if (policy === undefined) return exactly === undefined;
  return policy.agent !== null && policy.agent.couldPermit(policyTool(entry), exactly);
}

const listings = new WeakMap<AgentPolicy, WeakMap<Catalogue, Catalogue>>();
const nothing: Catalogue = new Map();
const ungoverned = new WeakMap<Catalogue, Catalogue>();

/** Without a policy: all but what only undoes. */
function listedToAll(catalogue: Catalogue): Catalogue {
  if (![...catalogue.values()].some(({ isReversal }) => isReversal === true)) return catalogue;
  return new Map([...catalogue].filter(([, entry]) => isListed(entry, undefined)));
}

/** The same object for as long as neither policy nor catalogue changes. */
export function listedTools(
  catalogue: Catalogue,
  policy: PolicyFact | undefined,
  ceiling: Reach | null = null,
): Catalogue {
  if (policy?.mode === 'audit') return catalogue;
  if (ceiling !== null) return new Map([...catalogue].filter(([, entry]) => isListed(entry, policy, ceiling)));
  if (policy === undefined) {
    const known = ungoverned.get(catalogue) ?? listedToAll(catalogue);
    ungoverned.set(catalogue, known);
    return known;
  }
  const { agent } = policy;
  if (agent === null) return nothing;
  const ofAgent = listings.get(agent) ?? new WeakMap<Catalogue, Catalogue>();
  listings.set(agent, ofAgent);
  const known = ofAgent.get(catalogue);
  if (known !== undefined) return known;
  const listed = new Map([...catalogue].filter(([, entry]) => isListed(entry, policy)));
  ofAgent.set(catalogue, listed);
  return listed;
}
