/** Seed 003: what a failure means, and what is done about it. */
import { type Stated, under } from './stated.ts';

const failing = 'docs/guides/when-a-tool-fails.md';
const classify = 'src/core/recovery/classify.ts';
const playbook = 'src/core/recovery/playbook.ts';
const plan = 'src/core/recovery/plan.ts';
const dispatch = 'src/core/recovery/dispatch.ts';
const undoing = 'docs/guides/when-a-tool-fails.md';

const shape = under('The shape of the contract');
const verdicts = under('The verdict enum');
const actions = under('The compensation actions');
const dispatcher = under('The dispatcher');
const guard = under('The reversal-token guard');
const refund = under('A worked refund-with-conflict');
const extending = under('Extending the playbook');
const changes = under('What this changes');

const subjects =
  'an adapter says it by a subject beside the kind, and nobody reads the words of a message (CONTRACT 5)';

export const seed003: Readonly<Record<string, Stated>> = {
  'S003-shape-1': shape(
    'a failure gets a verdict, and the verdict a compensation, within what is safe to repeat',
    failing,
  ),
  'S003-verdict-1': verdicts('no answer in time is transient_timeout', classify),
  'S003-verdict-2': verdicts('a failure that the upstream admits is server_error_5xx', classify),
  'S003-verdict-3': verdicts('a conflict about our own key is idempotency_conflict', classify, subjects),
  'S003-verdict-4': verdicts('a precondition about evidence is evidence_stale', classify, subjects),
  'S003-verdict-5': verdicts('what the upstream forbids is policy_denied', classify),
  'S003-verdict-6': verdicts('a shape that is not the declared one is schema_mismatch', classify),
  'S003-verdict-7': verdicts('a success has no verdict', dispatch),
  'S003-verdict-8': verdicts('a failure without a description is server_error_5xx', classify),
  'S003-verdict-9': verdicts('a failure that nobody recognises is not sent again, and goes to a person', plan),
  'S003-verdict-10': verdicts(
    'the list of verdicts can be extended',
    'docs/decisions/0010-four-more-verdicts.md',
    'four more: rate_limited, invalid_request, auth_expired, cancelled (ADR 0010)',
  ),
  'S003-adapter-1': verdicts('the kind that an adapter set decides, whatever the upstream called it', classify),
  'S003-playbook-1': actions('every verdict has exactly one compensation: nothing falls through', playbook),
  'S003-playbook-2': actions('after transient_timeout: retries after 200, 600 and 1800 ms', playbook),
  'S003-playbook-3': actions('after server_error_5xx: retries after 500 and 2000 ms', playbook),
  'S003-playbook-4': actions('after idempotency_conflict: no retry, the call is given up and planned anew', playbook),
  'S003-playbook-5': actions(
    'after evidence_stale: the evidence is read again',
    playbook,
    'a retry follows only if the evidence is what the call was bound to; changed evidence means a new plan (CONTRACT 9)',
  ),
  'S003-playbook-6': actions('after policy_denied: a person, in the queue policy_review', playbook),
  'S003-playbook-7': actions('what was denied cannot be asked for again in other words', 'src/core/gates/fence.ts'),
  'S003-playbook-8': actions('after schema_mismatch: no retry, planned anew, and a ticket', playbook),
  'S003-dispatch-1': dispatcher('the verdict is on record before any compensation begins', dispatch),
  'S003-dispatch-2': dispatcher('a retry that succeeds is succeeded_after_compensation', dispatch),
  'S003-dispatch-3': dispatcher(
    'retries that are used up are exhausted, with the error',
    dispatch,
    'final_error is that of the last send, and first_error that of the first (CONTRACT 5)',
  ),
  'S003-dispatch-4': dispatcher('a refresh that should abort, or is followed by a failure, is deprecated', dispatch),
  'S003-dispatch-5': dispatcher('an escalation is a ticket in its queue, and the outcome escalated', dispatch),
  'S003-dispatch-6': dispatcher('a reversal redeems the token of its call, and the outcome is reversed', undoing),
  'S003-dispatch-7': dispatcher('a call that is given up is deprecated, with the reason and replan', dispatch),
  'S003-dispatch-8': dispatcher('each send of the retries has its number', failing),
  'S003-replay-1': dispatcher(
    'the records of a failure are enough to decide verdict and compensation again, and that comes out equal',
    'src/core/recovery/replay.ts',
  ),
  'S003-reversal-1': guard('nothing is reversed without the token of the original call', undoing),
  'S003-reversal-2': guard(
    'a reversal that is refused is an event that says why, and the outcome is exhausted',
    undoing,
  ),
  'S003-reversal-3': guard('the token is issued when a call that changes something is authorised', undoing),
  'S003-reversal-4': guard('a token is the only way to the tool that reverses', undoing),
  'S003-refund-1': refund('a refund that meets its own key is given up with replan', failing),
  'S003-refund-2': refund('it is not sent again, and money moves once', failing),
  'S003-refund-3': refund(
    'the state at the upstream is read, and settles the call as done',
    failing,
    'the declared read does this by itself; without one a person or the agent does',
  ),
  'S003-change-1': extending(
    'a further verdict needs a written decision, with what it captures and why the others do not',
    'docs/decisions/0010-four-more-verdicts.md',
  ),
  'S003-change-2': extending('each compensation is held to a golden that shows what comes of it', 'goldens'),
  'S003-change-3': extending(
    'a failure that was handled wrong becomes feedback, then a proposal, a replay and a release',
    'docs/guides/improving.md',
  ),
  'S003-change-4': extending(
    'nobody changes by hand what is done about failures: without a release it is refused, or forced on record',
    'docs/guides/improving.md',
  ),
  'S003-effect-1': changes('a write that has already happened is never retried', plan),
  'S003-effect-2': changes('every failure and every compensation is a typed record', 'src/core/journal/record.ts'),
  'S003-effect-3': changes('adapters are given the exact list of kinds that count', 'docs/codes/README.md'),
};
