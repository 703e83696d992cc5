/**
 * The improvement loop: feedback about a call becomes a proposal, which is replayed, released, and may be rolled back.
 * Each step is one record that names the hash of the step before it. A release changes nothing by itself: it permits
 * a playbook, which `up` and `apply` put in force.
 */
import type { Chain, Taken } from '../../core/improvement/chain.ts';
import { bodyOfStep, improvementSubject, maxSteps, type Step } from '../../core/improvement/step.ts';
import type { CallId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { safeText } from '../../core/values/redact.ts';
import type { Blob } from '../../ports/store.ts';
import { bare } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { commit, mayBeApplied } from '../upkeep/commit.ts';
import { readImprovements } from './read-improvements.ts';
import { type Candidate, type ChangeReport, replayChange } from './replay-change.ts';

export const improvementProblems = {
  not_found: 404,
  /** Another step came first, or it was done already. */
  moved_on: 409,
  /** Goldens would come out otherwise. */
  breaks_goldens: 409,
  bad_change: 422,
  outcome_unknown: 503,
  store_unavailable: 503,
} as const;

export type ImprovementProblem = keyof typeof improvementProblems;

export interface Refused {
  readonly ok: false;
  readonly problem: ImprovementProblem;
  readonly message: string;
}

export type Made<Kind extends Step> =
  | { readonly ok: true; readonly step: Taken<Kind>; readonly report: ChangeReport | null }
  | Refused;

/** The person who does it; their name goes on record. */
export interface Improver {
  readonly tenant: string;
  readonly name: string;
}

/** What was written: the section `playbook`, or a whole recourse.yaml. */
export interface WrittenChange {
  readonly playbook?: string;
  readonly config?: string;
}

/** The candidate, or what is wrong with what was written. */
export type ReadChange = (change: WrittenChange) => Promise<Candidate | { readonly problem: string }>;

export interface ImprovementService {
  chain(): Promise<Chain>;
  /** A text that a step names by its hash. */
  text(hash: string): Promise<string | null>;
  add(call: string, by: Improver, note: string): Promise<Made<Extract<Step, { kind: 'feedback_added' }>>>;
  propose(
    feedback: readonly string[],
    change: WrittenChange,
    by: Improver,
  ): Promise<Made<Extract<Step, { kind: 'change_proposed' }>>>;
  release(
    proposal: string,
    by: Improver,
    options: { readonly force: boolean; readonly note: string },
  ): Promise<Made<Extract<Step, { kind: 'change_released' }>>>;
  rollback(release: string, by: Improver, note: string): Promise<Made<Extract<Step, { kind: 'release_rolled_back' }>>>;
}

const maxNoteChars = 500;
const maxFeedback = 50;

export function createImprovements(shell: Shell, read: ReadChange): ImprovementService {
  const { ports } = shell;
  const newId = (prefix: string) => ports.ids.ordered(prefix, ports.clock.nowMs());
  return {
    chain: () => readImprovements(ports.store, ports.sha256),
    text: (hash) => ports.store.blob(hash),
    async add(call, by, note) {
      const found = await ports.store.call(call as CallId);
      if (found === null || found.tenant !== by.tenant)
        return refuse('not_found', `no call '${safeText(call, 64)}' is on record; recourse calls ls lists them`);
      const step = { kind: 'feedback_added', id: newId('fb_'), call: found.id, tool: found.tool } as const;
      return appendStep(() => ({ step, note }), by, shell);
    },
    async propose(feedback, change, by) {
      const calls = await callsOf(feedback, by, shell);
      if ('problem' in calls) return calls;
      const candidate = await read(change);
      if ('problem' in candidate) return refuse('bad_change', candidate.problem);
      const report = await replayChange({ tenant: by.tenant, feedback: calls.found }, candidate, ports.store);
      const texts = [candidate.playbook, canonicalText({ ...change }), canonicalText(report as never)];
      const blobs = texts.map((text): Blob => ({ hash: ports.sha256(text), text }));
      const [playbook = '', written = '', told = ''] = blobs.map(({ hash }) => hash);
      const policy = candidate.policy === null ? null : ports.sha256(candidate.policy.text);
      const id = newId('prop_');
      const made = await appendStep<Extract<Step, { kind: 'change_proposed' }>>(
        ({ released }) => {
          if (released === null)
            return refuse('moved_on', 'no playbook is in force yet: start the gateway with recourse up');
          if (released === playbook && policy === null)
            return refuse('bad_change', 'it changes nothing: the playbook is the one that is released');
          const names = { playbook, change: written, report: told };
          const breaks = report.broken.length;
          return {
            step: { kind: 'change_proposed', id, feedback, ...names, policy, base: released, breaks },
            blobs,
            note: '',
          };
        },
        by,
        shell,
      );
      return made.ok ? { ...made, report } : made;
    },
    release: (id, by, options) => release(id, by, options, { newId, shell }),
    rollback: (id, by, note) => {
      const own = newId('rb_');
      return appendStep<Extract<Step, { kind: 'release_rolled_back' }>>(
        ({ releases, stack, steps }) => {
          const found = releases.get(id);
          if (found === undefined) return refuse('not_found', `there is no release '${safeText(id, 64)}'`);
          if (stack.at(-1)?.id !== id) return refuse('moved_on', whyNotOnTop(id, stack.at(-1)?.id));
          const adopted = steps.find((step) => step.kind === 'playbook_adopted');
          const playbook = stack.at(-2)?.playbook ?? adopted?.playbook ?? '';
          return { step: { kind: 'release_rolled_back', id: own, release: id, playbook }, note };
        },
        by,
        shell,
      );
    },
  };
}

const whyNotOnTop = (id: string, last: string | undefined): string =>
  last === undefined ? `'${id}' was rolled back already` : `'${id}' is not the last release in force; that is ${last}`;

async function release(
  id: string,
  by: Improver,
  { force, note }: { readonly force: boolean; readonly note: string },
  { newId, shell }: { readonly newId: (prefix: string) => string; readonly shell: Shell },
): Promise<Made<Extract<Step, { kind: 'change_released' }>>> {
  const own = newId('rel_');
  return appendStep(
    ({ proposals, stack, released }) => {
      const found = proposals.get(id);
      if (found === undefined) return refuse('not_found', `there is no proposal '${safeText(id, 64)}'`);
      if (stack.some(({ proposal }) => proposal === id)) return refuse('moved_on', `'${id}' is released already`);
      // INVARIANT: what was replayed is what is released: another release since makes it another change.
      if (found.base !== released)
        return refuse('moved_on', 'another release came first: propose it again, so that it is replayed on that one');
      if (found.breaks > 0 && !force)
        return refuse(
          'breaks_goldens',
          `${found.breaks} goldens would come out otherwise; force releases it all the same`,
        );
      const { playbook, policy } = found;
      const forced = found.breaks > 0;
      return { step: { kind: 'change_released', id: own, proposal: id, playbook, policy, forced }, note };
    },
    by,
    shell,
  );
}

async function callsOf(feedback: readonly string[], by: Improver, { ports }: Shell) {
  if (feedback.length === 0 || feedback.length > maxFeedback)
    return refuse('bad_change', `name the feedback that it is about, at most ${maxFeedback}`);
  const chain = await readImprovements(ports.store, ports.sha256);
  const found = [];
  for (const id of feedback) {
    const about = chain.feedback.get(id);
    const call = about === undefined ? null : await ports.store.call(about.call as CallId);
    if (call === null || call.tenant !== by.tenant)
      return refuse('not_found', `there is no feedback '${safeText(id, 64)}'; recourse feedback ls lists it`);
    found.push(call);
  }
  return { found };
}

interface Draft<Kind extends Step> {
  readonly step: Kind;
  readonly note: string;
  readonly blobs?: readonly Blob[];
}

/**
 * Appends a step to what stands there then. INVARIANT: of two that would follow the same step one does; the other is
 * decided again, on the step that came first.
 */
export async function appendStep<Kind extends Step>(
  make: (chain: Chain) => Draft<Kind> | Refused,
  { tenant, name }: Improver,
  shell: Shell,
): Promise<Made<Kind>> {
  const { ports, limits } = shell;
  for (let tries = 0; tries <= limits.maxRedecisions; tries++) {
    const chain = await readImprovements(ports.store, ports.sha256);
    if (chain.steps.length >= maxSteps) return refuse('store_unavailable', `there are ${maxSteps} steps already`);
    if (chain.problems.length > 0)
      return refuse('moved_on', 'the steps on record do not hold: recourse feedback verify');
    const made = make(chain);
    if ('ok' in made) return made;
    const fields = { tenant, by: name, step: chain.steps.length + 1, previous: chain.head };
    const body = canonicalText(bodyOfStep(made.step, fields));
    const note = noteIn(made.note);
    const payloads = note === '' ? [] : [{ part: 'note', text: canonicalText(note) }];
    const record = { kind: made.step.kind, call: improvementSubject, session: null, body, payloads };
    // Who follows the same step has the same token, and the store commits a token once.
    const token = `improvement_${chain.head ?? 'first'}`;
    const result = await commit({ ...bare(shell), token, blobs: made.blobs ?? [], records: [record] }, shell);
    if (result.kind === 'unavailable')
      return mayBeApplied(result.fault)
        ? refuse('outcome_unknown', 'the store did not say whether it is recorded; look at it again')
        : refuse('store_unavailable', 'the store cannot record it; ask again');
    const after = await readImprovements(ports.store, ports.sha256);
    const own = after.steps.find(({ hash }) => hash === ports.sha256(body));
    if (own !== undefined) return { ok: true, step: own as unknown as Taken<Kind>, report: null };
  }
  return refuse('store_unavailable', 'others change it all the time; ask again');
}

const noteIn = (said: string): string =>
  safeText(said.toWellFormed().replaceAll(/\p{Cc}+/gu, ' '), maxNoteChars).trim();

const refuse = (problem: ImprovementProblem, message: string): Refused => ({ ok: false, problem, message });
