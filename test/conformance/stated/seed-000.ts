/** Seed 000: refusals of a step, and how an agent recovers from them. */
import { type Stated, under } from './stated.ts';

const guide = 'docs/guides/workflows.md';
const replies = 'docs/guides/replies.md';
const timeouts = 'docs/guides/workflows.md';

const intro = under('Refusals and recovery');
const transition = under('invalid_transition');
const unknown = under('unknown_action');
const validation = under('validation_failed');
const timeout = under('action_timeout');
const error = under('action_error');
const recovery = under('The recovery contract');

export const seed000: Readonly<Record<string, Stated>> = {
  'S000-refusal-1': intro('a refused step is a reply of one of five sorts, told apart by the field error', replies),
  'S000-refusal-2': intro('every refusal lists what is possible in the current state', replies),
  'S000-transition-1': transition(
    'an action that exists and is not reachable is refused before its body runs, and the state stays',
    'src/core/gates/reachable.ts',
  ),
  'S000-transition-2': transition('the refusal has exactly these fields and this message', replies),
  'S000-transition-3': transition('one of the actions that the refusal lists can be taken next', guide),
  'S000-unknown-1': unknown('a name that the workflow does not have at all is told apart', 'src/core/gates/known.ts'),
  'S000-unknown-2': unknown('it carries the name of every action of the workflow', 'src/core/gates/known.ts'),
  'S000-validation-1': validation(
    'a validator refuses the inputs of a reachable action before its body runs, and the state stays',
    'src/core/gates/input.ts',
  ),
  'S000-validation-2': validation('the refusal has the reason, the field and what it got', replies),
  'S000-validation-3': validation('validators are given where the workflow is mounted', guide),
  'S000-timeout-1': timeout('an action that exceeds its time is refused, and nobody hangs', timeouts),
  'S000-timeout-2': timeout('the time limit holds for asynchronous and for blocking bodies', timeouts),
  'S000-timeout-3': timeout(
    'a body that blocks its thread freezes neither the gateway nor the time limit',
    timeouts,
    'a body in the thread of the gateway must say that it does not block; one that may block runs in a worker (ADR 0052)',
  ),
  'S000-timeout-4': timeout(
    'a body that has timed out may go on in the background while its caller has the refusal',
    timeouts,
    'its late result is recorded and may settle the doubt; a body in a worker of its own is ended (CONTRACT 6)',
  ),
  'S000-timeout-5': timeout('the limit is kept whether or not the body hears that it was cancelled', timeouts),
  'S000-timeout-6': timeout('a body that waits for an answer of its client is refused at its limit too', timeouts),
  'S000-timeout-7': timeout(
    'the refusal reaches the client at the limit, over stdio and HTTP',
    timeouts,
    'in memory as well: the reply does not wait for the open question',
  ),
  'S000-timeout-8': timeout('the refusal has exactly these fields and this message', replies),
  'S000-error-1': error('what a body threw is passed on with its type and message', replies),
  'S000-error-2': error('the refusal has exactly these fields', replies),
  'S000-error-3': error(
    'a body may throw for a finer condition than the graph knows, and the agent can go on',
    guide,
    'that a throw of its own proves that nothing happened holds only without a declared effect class (CONTRACT 9)',
  ),
  'S000-recovery-1': recovery('every reply lists the next actions, after a success and after a refusal', replies),
  'S000-recovery-2': recovery('a success has the result of the action and the new state', replies),
  'S000-recovery-3': recovery('an agent that only picks from that list gets to the end of a workflow', guide),
  'S000-recovery-4': recovery(
    'the next actions can be read at any time as a resource',
    'src/doors/mcp/resources.ts',
    'its scheme is recourse',
  ),
  'S000-recovery-5': recovery(
    'the history of all attempts, refusals included, can be read as a resource',
    'src/doors/mcp/resources.ts',
    'its scheme is recourse',
  ),
};
