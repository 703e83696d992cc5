/** How the steps of the improvement loop are shown to people and programs. */
import type { Chain, Taken } from './chain.ts';
import type { ChangeProposed, ChangeReleased, FeedbackAdded } from './step.ts';

export const proposalStates = ['open', 'released', 'rolled_back', 'outdated'] as const;
export const releaseStates = ['in_force', 'covered_by_later', 'rolled_back'] as const;

export interface FeedbackView {
  readonly feedback_id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly note: string | null;
  readonly by: string;
  readonly at: string;
  /** Proposals that name it. */
  readonly proposals: readonly string[];
}

export interface ProposalView {
  readonly proposal_id: string;
  readonly state: (typeof proposalStates)[number];
  readonly feedback: readonly string[];
  /** Hashes: of the playbook as it would be, of the one that it was made for, of the policy if it changes. */
  readonly playbook: string;
  readonly base: string;
  readonly policy: string | null;
  /** How many goldens would come out otherwise. */
  readonly breaks: number;
  readonly by: string;
  readonly at: string;
}

export interface ReleaseView {
  readonly release_id: string;
  readonly state: (typeof releaseStates)[number];
  readonly proposal_id: string;
  readonly playbook: string;
  readonly policy: string | null;
  readonly forced: boolean;
  readonly note: string | null;
  readonly by: string;
  readonly at: string;
}

export interface ImprovementsView {
  readonly feedback: readonly FeedbackView[];
  readonly proposals: readonly ProposalView[];
  readonly releases: readonly ReleaseView[];
  /** The hash of the playbook that is released; null before a gateway has run with a file. */
  readonly released: string | null;
  readonly steps: number;
  readonly head: string | null;
  readonly problems: readonly { readonly record: number; readonly problem: string }[];
}

type Time = (ms: number) => string;

/** More are counted and not listed, the newest first. */
const maxListed = 200;

export function viewOfChain(chain: Chain, time: Time): ImprovementsView {
  const newest = <Value>(all: ReadonlyMap<string, Value>) => [...all.values()].toReversed().slice(0, maxListed);
  return {
    feedback: newest(chain.feedback).map((each) => viewOfFeedback(each, chain, time)),
    proposals: newest(chain.proposals).map((each) => viewOfProposal(each, chain, time)),
    releases: newest(chain.releases).map((each) => viewOfRelease(each, chain, time)),
    released: chain.released,
    steps: chain.steps.length,
    head: chain.head,
    problems: chain.problems.slice(0, maxListed),
  };
}

export function viewOfFeedback(added: Taken<FeedbackAdded>, { proposals }: Chain, time: Time): FeedbackView {
  const { id, call, tool, note, by, atMs } = added;
  const named = [...proposals.values()].filter(({ feedback }) => feedback.includes(id));
  return {
    feedback_id: id,
    call_id: call,
    tool,
    note,
    by,
    at: time(atMs),
    proposals: named.map((proposal) => proposal.id),
  };
}

export function viewOfProposal(proposed: Taken<ChangeProposed>, chain: Chain, time: Time): ProposalView {
  const { id, feedback, playbook, base, policy, breaks, by, atMs } = proposed;
  return {
    proposal_id: id,
    state: stateOf(proposed, chain),
    feedback,
    playbook,
    base,
    policy,
    breaks,
    by,
    at: time(atMs),
  };
}

function stateOf({ id, base }: Taken<ChangeProposed>, { stack, releases, released }: Chain): ProposalView['state'] {
  if (stack.some(({ proposal }) => proposal === id)) return 'released';
  if (base === released) return 'open';
  return [...releases.values()].some(({ proposal }) => proposal === id) ? 'rolled_back' : 'outdated';
}

export function viewOfRelease(made: Taken<ChangeReleased>, { stack }: Chain, time: Time): ReleaseView {
  const { id, proposal, playbook, policy, forced, note, by, atMs } = made;
  const isThere = stack.some((each) => each.id === id);
  const state = stack.at(-1)?.id === id ? 'in_force' : isThere ? 'covered_by_later' : 'rolled_back';
  return { release_id: id, state, proposal_id: proposal, playbook, policy, forced, note, by, at: time(atMs) };
}
