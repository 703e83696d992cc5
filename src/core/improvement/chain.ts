/**
 * Reads the steps of the improvement loop in order, checks that each names the one before it, and finds what is in
 * force. A step that does not follow, or that contradicts the steps before it, counts for nothing and is named. Pure.
 */
import { unreachable } from '../values/unreachable.ts';
import {
  type ChangeProposed,
  type ChangeReleased,
  type FeedbackAdded,
  readStep,
  type Step,
  type StepFields,
} from './step.ts';

export interface StepRecord {
  readonly kind: string;
  readonly body: string;
  readonly timeMs: number;
  readonly payloads: readonly { readonly part: string; readonly text: string | null }[];
}

/** A step that counts, with its own hash. */
export type Taken<Kind extends Step = Step> = Kind &
  StepFields & { readonly hash: string; readonly atMs: number; readonly note: string | null };

export interface Chain {
  readonly steps: readonly Taken[];
  /** The hash of the last step that counts; null without any. */
  readonly head: string | null;
  /** What does not hold, by the number of the record; empty if everything does. */
  readonly problems: readonly { readonly record: number; readonly problem: string }[];
  readonly feedback: ReadonlyMap<string, Taken<FeedbackAdded>>;
  readonly proposals: ReadonlyMap<string, Taken<ChangeProposed>>;
  /** Also those that were rolled back. */
  readonly releases: ReadonlyMap<string, Taken<ChangeReleased>>;
  /** The releases in force, the last one on top. */
  readonly stack: readonly Taken<ChangeReleased>[];
  /** The hash of the playbook that is released; null before the first step. */
  readonly released: string | null;
}

interface Building {
  readonly steps: Taken[];
  readonly problems: { record: number; problem: string }[];
  readonly feedback: Map<string, Taken<FeedbackAdded>>;
  readonly proposals: Map<string, Taken<ChangeProposed>>;
  readonly releases: Map<string, Taken<ChangeReleased>>;
  readonly stack: Taken<ChangeReleased>[];
  adopted: string | null;
}

export function readChain(records: readonly StepRecord[], sha256: (text: string) => string): Chain {
  const chain: Building = {
    steps: [],
    problems: [],
    feedback: new Map(),
    proposals: new Map(),
    releases: new Map(),
    stack: [],
    adopted: null,
  };
  records.forEach(({ kind, body, timeMs, payloads }, at) => {
    const step = readStep(kind, body);
    const problem = step === null ? 'it cannot be read' : problemOf(step, chain);
    if (step === null || problem !== null) {
      chain.problems.push({ record: at + 1, problem: `${kind}: ${problem ?? ''}` });
      return;
    }
    const note = payloads.find(({ part }) => part === 'note')?.text ?? null;
    take({ ...step, hash: sha256(body), atMs: timeMs, note: note === null ? null : noteIn(note) }, chain);
  });
  const { adopted: _adopted, ...read } = chain;
  return { ...read, head: chain.steps.at(-1)?.hash ?? null, released: playbookAt(-1, chain) };
}

/** INVARIANT: each step names the hash of the one before it, so none can be changed, taken out or put in. */
function problemOf(step: Step & StepFields, chain: Building): string | null {
  const last = chain.steps.at(-1);
  if (step.previous !== (last?.hash ?? null)) return 'it does not follow the step before it';
  if (step.step !== (last?.step ?? 0) + 1) return `it is called step ${step.step}`;
  return contradiction(step, chain);
}

function contradiction(step: Step, chain: Building): string | null {
  switch (step.kind) {
    case 'playbook_adopted':
      return chain.adopted === null ? null : 'a playbook was adopted before';
    case 'playbook_forced':
      return null;
    case 'feedback_added':
      return chain.feedback.has(step.id) ? 'there is feedback with this id' : null;
    case 'change_proposed':
      if (chain.proposals.has(step.id)) return 'there is a proposal with this id';
      return step.feedback.every((id) => chain.feedback.has(id)) ? null : 'it names feedback that is not there';
    case 'change_released':
      return wrongRelease(step, chain);
    case 'release_rolled_back':
      if (chain.stack.at(-1)?.id !== step.release) return 'the release is not in force';
      return playbookAt(-2, chain) === step.playbook ? null : 'it restores another playbook';
    default:
      return unreachable(step);
  }
}

/** Of the release at this place of the stack, or the one that was adopted. */
const playbookAt = (at: number, { stack, adopted }: Pick<Building, 'stack' | 'adopted'>): string | null =>
  stack.at(at)?.playbook ?? adopted;

/** INVARIANT: a release is of the playbook that was replayed, on the playbook that it was replayed on. */
function wrongRelease(step: ChangeReleased, chain: Building): string | null {
  const proposal = chain.proposals.get(step.proposal);
  if (proposal === undefined || chain.releases.has(step.id)) return 'it does not fit a proposal';
  if (proposal.base !== playbookAt(-1, chain)) return 'its proposal was made for another playbook';
  return proposal.playbook === step.playbook ? null : 'its playbook is not that of its proposal';
}

function take(step: Taken, chain: Building): void {
  chain.steps.push(step);
  switch (step.kind) {
    case 'playbook_adopted':
      chain.adopted = step.playbook;
      return;
    case 'playbook_forced':
      return;
    case 'feedback_added':
      chain.feedback.set(step.id, step);
      return;
    case 'change_proposed':
      chain.proposals.set(step.id, step);
      return;
    case 'change_released':
      chain.releases.set(step.id, step);
      chain.stack.push(step);
      return;
    case 'release_rolled_back':
      chain.stack.pop();
      return;
    default:
      return unreachable(step);
  }
}

/** A note is a JSON text. */
function noteIn(text: string): string | null {
  try {
    const said: unknown = JSON.parse(text);
    return typeof said === 'string' ? said : null;
  } catch {
    return null;
  }
}
