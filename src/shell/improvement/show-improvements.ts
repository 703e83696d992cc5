/** The improvement loop as doors show it: every step that is taken is told as what is on record then. */
import type { Chain } from '../../core/improvement/chain.ts';
import {
  type FeedbackView,
  type ImprovementsView,
  type ProposalView,
  type ReleaseView,
  viewOfChain,
  viewOfFeedback,
  viewOfProposal,
  viewOfRelease,
} from '../../core/improvement/improvement-view.ts';
import type { Step } from '../../core/improvement/step.ts';
import type { Json } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';
import {
  createImprovements,
  type ImprovementService,
  type Improver,
  type Made,
  type ReadChange,
  type Refused,
  type WrittenChange,
} from './improvements.ts';

export type { WrittenChange };

/** One of the three; of a proposal also what was proposed and what would come of it. */
export interface ShownImprovement {
  readonly feedback: FeedbackView | null;
  readonly proposal: ProposalView | null;
  readonly release: ReleaseView | null;
  readonly change: Json;
  readonly report: Json;
  readonly released: string | null;
}

export type Shown<Value> = { readonly ok: true; readonly shown: Value } | Refused;

export interface Improvements {
  list(): Promise<ImprovementsView>;
  /** Null if nothing has this id. */
  show(id: string): Promise<ShownImprovement | null>;
  add(call: string, by: Improver, note: string): Promise<Shown<ShownImprovement>>;
  propose(feedback: readonly string[], change: WrittenChange, by: Improver): Promise<Shown<ShownImprovement>>;
  release(
    proposal: string,
    by: Improver,
    options: { readonly force: boolean; readonly note: string },
  ): Promise<Shown<ShownImprovement>>;
  rollback(release: string, by: Improver, note: string): Promise<Shown<ShownImprovement>>;
}

export function showImprovements(shell: Shell, read: ReadChange): Improvements {
  const service = createImprovements(shell, read);
  const show = async (id: string) => showOne(id, await service.chain(), service);
  const told = async <Kind extends Step>(made: Made<Kind>, idOf: (step: Kind) => string) => {
    if (!made.ok) return made;
    const shown = await show(idOf(made.step));
    return shown === null
      ? ({ ok: false, problem: 'outcome_unknown', message: 'it is recorded, and cannot be read' } as const)
      : ({ ok: true, shown } as const);
  };
  return {
    list: async () => viewOfChain(await service.chain(), time),
    show,
    add: async (call, by, note) => told(await service.add(call, by, note), ({ id }) => id),
    propose: async (feedback, change, by) => told(await service.propose(feedback, change, by), ({ id }) => id),
    release: async (proposal, by, options) => told(await service.release(proposal, by, options), ({ id }) => id),
    rollback: async (id, by, note) => told(await service.rollback(id, by, note), ({ release }) => release),
  };
}

async function showOne(id: string, chain: Chain, { text }: ImprovementService): Promise<ShownImprovement | null> {
  const nothing = { feedback: null, proposal: null, release: null, change: null, report: null };
  const shown = { ...nothing, released: chain.released };
  const feedback = chain.feedback.get(id);
  if (feedback !== undefined) return { ...shown, feedback: viewOfFeedback(feedback, chain, time) };
  const release = chain.releases.get(id);
  if (release !== undefined) return { ...shown, release: viewOfRelease(release, chain, time) };
  const proposal = chain.proposals.get(id);
  if (proposal === undefined) return null;
  const [change, report] = await Promise.all([text(proposal.change), text(proposal.report)]);
  return {
    ...shown,
    proposal: viewOfProposal(proposal, chain, time),
    change: change === null ? null : (JSON.parse(change) as Json),
    report: report === null ? null : (JSON.parse(report) as Json),
  };
}

/** Later than any clock says; beyond it there is no text for a time. */
const latestTimeMs = 253_402_300_799_000;

/** RFC 3339 in whole seconds. */
const time = (ms: number): string => `${new Date(Math.min(ms, latestTimeMs)).toISOString().slice(0, 19)}Z`;
