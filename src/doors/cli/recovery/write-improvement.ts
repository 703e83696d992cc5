/** Writes feedback, proposals and releases for a terminal. Text from others is escaped. */
import type { CallOutcome, ComparedCall } from '../../../core/improvement/compare.ts';
import type {
  FeedbackView,
  ImprovementsView,
  ProposalView,
  ReleaseView,
} from '../../../core/improvement/improvement-view.ts';
import { isObject, type Json } from '../../../core/values/json.ts';
import type { ChangeReport } from '../../../shell/improvement/replay-change.ts';
import type { ShownImprovement } from '../../../shell/improvement/show-improvements.ts';
import { type Column, type Pair, writePairs, writeTable } from '../print/table.ts';
import { harmless, type Paint } from '../terminal.ts';

const feedbackColumns: readonly Column<FeedbackView>[] = [
  { title: 'feedback', text: ({ feedback_id: id }) => id },
  { title: 'call', text: ({ call_id: id }) => id },
  { title: 'tool', text: ({ tool }) => tool },
  { title: 'note', text: ({ note }) => note ?? '' },
  { title: 'by', text: ({ by }) => by },
];

const proposalColumns: readonly Column<ProposalView>[] = [
  { title: 'proposal', text: ({ proposal_id: id }) => id },
  { title: 'state', text: ({ state }) => state },
  { title: 'goldens broken', text: ({ breaks }) => String(breaks) },
  { title: 'by', text: ({ by }) => by },
  { title: 'at', text: ({ at }) => at },
];

const releaseColumns: readonly Column<ReleaseView>[] = [
  { title: 'release', text: ({ release_id: id }) => id },
  { title: 'state', text: ({ state }) => state },
  { title: 'proposal', text: ({ proposal_id: id }) => id },
  { title: 'by', text: ({ by }) => by },
  { title: 'at', text: ({ at }) => at },
];

export function writeImprovements(view: ImprovementsView, paint: Paint): string {
  const { feedback, proposals, releases, released, problems } = view;
  return [
    ...(feedback.length === 0 ? ['no feedback yet: recourse feedback add <call_id> --note …\n'] : []),
    ...(feedback.length === 0 ? [] : [writeTable(feedbackColumns, feedback, paint), '\n']),
    ...(proposals.length === 0 ? [] : [writeTable(proposalColumns, proposals, paint), '\n']),
    ...(releases.length === 0 ? [] : [writeTable(releaseColumns, releases, paint), '\n']),
    `released playbook ${released ?? 'none'}\n`,
    ...(problems.length === 0 ? [] : [paint('red', 'the steps on record do not hold: recourse feedback verify\n')]),
  ].join('');
}

export function writeImprovement(shown: ShownImprovement, paint: Paint): string {
  const { feedback, proposal, release, change, report } = shown;
  if (feedback !== null) return writePairs(pairsOfFeedback(feedback), paint);
  if (release !== null) return writePairs(pairsOf(release), paint);
  if (proposal === null) return '';
  return `${writePairs([...pairsOf(proposal), ...pairsOfChange(change)], paint)}\n${writeReport(report, paint)}`;
}

const pairsOfFeedback = ({ feedback_id, call_id, tool, note, by, at, proposals }: FeedbackView): readonly Pair[] => [
  ['feedback', feedback_id],
  ['call', `${call_id} of ${tool}`],
  ['note', note ?? ''],
  ['by', `${by} at ${at}`],
  ['proposals', proposals.length === 0 ? 'none' : proposals.join(', ')],
];

/** Fields as they are called on the wire. */
const pairsOf = (view: ProposalView | ReleaseView): readonly Pair[] =>
  Object.entries(view).map(([name, value]): Pair => [name, Array.isArray(value) ? value.join(', ') : String(value)]);

const pairsOfChange = (change: Json): readonly Pair[] =>
  isObject(change) ? Object.entries(change).map(([name, text]): Pair => [name, String(text).split('\n')]) : [];

export function writeReport(told: Json, paint: Paint): string {
  if (!isObject(told)) return '';
  const { about, changed, replayed, skipped, broken, goldens, judged } = told as unknown as ChangeReport;
  const otherwise = [...about, ...changed];
  return [
    ...otherwise.map((each) => writeCompared(each, paint)),
    `  ${replayed} calls replayed, ${changed.length} more would come out otherwise`,
    skipped.length === 0 ? '\n' : `; ${skipped.length} cannot be replayed\n`,
    ...broken.map(({ ref, wrong }) => `  ${paint('red', '✗')} ${harmless(ref)}: ${harmless(wrong.join('; '))}\n`),
    `  ${broken.length} of ${goldens} goldens would come out otherwise\n`,
    ...(judged === null
      ? []
      : [
          ...judged.changed.map(
            ({ call_id, agent, tool, was, then, by }) =>
              `  ${harmless(call_id)}  ${harmless(agent)} ${harmless(tool)}: ${was} → ${then} (${harmless(by)})\n`,
          ),
          `  ${judged.changed.length} of ${judged.calls} calls would be decided otherwise by the rules\n`,
        ]),
  ].join('');
}

function writeCompared({ call_id, tool, was, then }: ComparedCall, paint: Paint): string {
  const before = outcomeText(was);
  const after = outcomeText(then);
  const change = before === after ? paint('dim', `${before}, as before`) : `${before} → ${paint('bold', after)}`;
  return `  ${paint('cyan', harmless(call_id))}  ${harmless(tool)}: ${change}\n`;
}

const outcomeText = ({ outcome, sends, state, effect }: CallOutcome): string =>
  `${harmless(outcome)} (${sends} sends, ${harmless(state)}, effect ${harmless(effect)})`;
