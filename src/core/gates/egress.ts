/**
 * Gate 9: whether the call may reach the hosts that it is about: the host of its tool, and the URLs in its arguments
 * where the agent's egress says so. By name first, so that no name is looked up that is not allowed; then by every
 * address.
 */
import { parseAddress } from '../egress/address.ts';
import type { Destination } from '../egress/destination.ts';
import { anyPublicHost, type EgressList, openingFor, permitsAddresses, permitsName } from '../egress/egress-list.ts';
import { urlsAt } from '../egress/find-urls.ts';
import { egressRefusal } from '../policy/policy-refusal.ts';
import type { Request } from '../call/call.ts';
import { argumentsIn, type Facts } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';

/** One host that the call is about, and the list that counts for it. */
interface Wanted {
  /** Null: something that is no URL stands where one should. */
  readonly to: Destination | null;
  readonly list: EgressList;
  /** We connect to it ourselves, and check again then. */
  readonly isOurs: boolean;
}

export const egress: Gate = {
  name: 'egress',
  check(request, facts) {
    if (facts.policy === undefined) return pass;
    const wanted = wantedBy(request, facts);
    const byName = wanted.find(({ to, list }) => to === null || !permitsName(list, to));
    if (byName !== undefined && facts.policy.mode === 'enforce') return refuse(byName, false);
    // INVARIANT: what cannot be read may be a private address, for the tool that reads it in another way.
    const unreadable = wanted.find(({ to }) => to === null);
    if (unreadable !== undefined) return refuse(unreadable, true);
    if (facts.addresses === undefined && hostsToResolve(wanted).length > 0) return { kind: 'need', fact: 'addresses' };
    // INVARIANT: audit mode never softens a private address, so it is looked for even where the name is refused.
    const byAddress = wanted.find((each) => !isAddressPermitted(each, facts));
    if (byAddress !== undefined) return refuse(byAddress, true);
    return byName === undefined ? pass : refuse(byName, false);
  },
  saw(request, facts) {
    const wanted = wantedBy(request, facts);
    return {
      hosts: wanted.map(({ to }) => (to === null ? null : `${to.host}:${to.port}`)),
      addresses: (facts.addresses ?? []).map(({ host, addresses }) => ({ host, addresses: [...addresses] })),
      allowed: facts.policy?.agent?.written.egress?.allow ?? null,
    };
  },
};

/** The hosts whose addresses the gate asks for; what is an address already needs no lookup. */
export const egressHosts = (request: Request, facts: Facts): readonly string[] =>
  hostsToResolve(wantedBy(request, facts));

function wantedBy(request: Request, facts: Facts): readonly Wanted[] {
  const entry = facts.catalogue.get(request.tool);
  if (entry === undefined) return [];
  const agent = facts.policy?.agent?.egress ?? null;
  const list = agent?.list ?? anyPublicHost;
  const own = entry.host === null || entry.port === undefined ? null : { host: entry.host, port: entry.port };
  const ofTool = own === null ? [] : [{ to: own, list: openingFor(list, own), isOurs: true }];
  const paths = agent?.pathsFor(entry.policyName) ?? [];
  const inArguments = paths.length === 0 ? [] : urlsAt(argumentsIn(request, facts), paths);
  return [...ofTool, ...inArguments.map((to) => ({ to, list, isOurs: false }))];
}

const hostsToResolve = (wanted: readonly Wanted[]): readonly string[] => [
  ...new Set(wanted.flatMap(({ to }) => (to === null || parseAddress(to.host) !== null ? [] : [to.host]))),
];

function isAddressPermitted({ to, list, isOurs }: Wanted, { addresses = [] }: Facts): boolean {
  if (to === null) return true;
  if (parseAddress(to.host) !== null) return permitsAddresses(list, [to.host], to.port);
  const found = addresses.find(({ host }) => host === to.host)?.addresses ?? [];
  // Our own connection resolves again, and fails as such if there is no address; somebody else's is not seen any more.
  return found.length === 0 ? isOurs : permitsAddresses(list, found, to.port);
}

const refuse = ({ to }: Wanted, hard: boolean): GateAnswer => ({
  kind: 'refuse',
  refusal: egressRefusal(to?.host ?? ''),
  ...(hard ? { hard } : {}),
});
