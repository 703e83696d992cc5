/** Seed 001: how failures propagate, by class and code. */
import { type Stated, under } from './stated.ts';

const failing = 'docs/guides/when-a-tool-fails.md';
const workflows = 'docs/guides/workflows.md';
const replies = 'docs/guides/replies.md';
const operations = 'docs/guides/operations.md';
const extensions = 'docs/guides/extensions.md';
const people = 'docs/guides/approvals.md';

const classes = under('Error Model');
const stages = under('With a state machine');
const defaults = under('Without a state machine');
const codes = under('Classes and codes');
const conduct = under('Conduct');
const retries = under('Retry contract');
const limited = under('RateLimited');
const schedules = under('Other defaults');
const interaction = under('User recovery');
const partial = under('Partial results');

export const seed001: Readonly<Record<string, Stated>> = {
  'S001-class-1': classes(
    'a configuration that is not valid refuses to start, with file, line and fix',
    'docs/guides/configuration.md',
  ),
  'S001-class-2': classes(
    'a passing failure of a provider is retried by its policy, and given up after so many',
    failing,
  ),
  'S001-class-3': classes(
    'a provider that lacks what a call needs is refused before anything is sent, and others are named',
    'docs/guides/models.md',
    'nobody picks by hand: the reply names the configured models that would do',
  ),
  'S001-class-4': classes('a passing failure of a tool is retried by its own rule, else told to the model', failing),
  'S001-class-5': classes(
    'a lasting failure of a tool is told to the model as a typed error, and not retried',
    failing,
  ),
  'S001-class-6': classes(
    'a store that cannot write is tried again; after that the session fails and an operator is told',
    operations,
  ),
  'S001-class-7': classes(
    'with a state machine, the machine decides what follows a failed call or a refusal that the caller caused',
    workflows,
  ),
  'S001-class-8': classes('a cancellation is an end in good order, of a class of its own, and on record', operations),
  'S001-class-9': classes('after a crash a session is resumed where it stood', operations),
  'S001-stage-1': stages('a failed tool call reaches the act phase of a stage as a typed error', workflows),
  'S001-stage-2': stages(
    'a stage may declare an attempt failed, and next may go to a repair stage or again',
    workflows,
  ),
  'S001-stage-3': stages(
    'a call that cannot be composed fails the attempt; the retry of the stage begins at setup, or next decides',
    workflows,
  ),
  'S001-stage-4': stages(
    'a stage that cannot be recovered is skipped, tried later, or aborts the workflow, as declared',
    workflows,
  ),
  'S001-default-1': defaults('a passing failure of a provider is retried', failing),
  'S001-default-2': defaults('a lasting failure of a tool goes to the model, which decides', failing),
  'S001-default-3': defaults(
    'what cannot be recovered ends the turn, with a sentence for a person',
    replies,
    'the turn is the id that a caller gives its calls; calls of it that run already go on',
  ),
  'S001-codes-1': codes('every class has its codes, and each of them is emitted by something', 'docs/codes/README.md'),
  'S001-codes-2': codes('extensions raise errors by class and code, through their host', extensions),
  'S001-codes-3': codes(
    'callers and the gateway match on class and code, never on a message',
    'src/core/recovery/classify.ts',
  ),
  'S001-wrap-1': conduct('an error that is wrapped keeps class and code; the words of the wrapper are added', replies),
  'S001-swallow-1': conduct('no error is swallowed in the code of the gateway', 'test/house/ignored-errors.ts'),
  'S001-swallow-2': conduct(
    'an error that is ignored on purpose is an event with the reason, for bodies, extensions and the gateway',
    extensions,
  ),
  'S001-render-1': conduct(
    'people read a sentence that is meant for them; the audit has class, code and the chain of causes',
    replies,
  ),
  'S001-model-1': conduct('a model reads the typed shape of an error, and no stack', replies),
  'S001-model-2': conduct('a workflow may let its model read more, on record', workflows),
  'S001-retry-1': retries(
    'a retry rule says whether, how often, how the pauses grow, and which codes count',
    failing,
    'max_attempts counts retries, one for each pause (CONTRACT 9)',
  ),
  'S001-retry-2': retries('each retry is on record with its number', failing),
  'S001-retry-3': retries(
    'the retry of a stage stands above that of its calls: the machine decides whether act is entered again',
    workflows,
  ),
  'S001-rate-1': limited('a Retry-After of the upstream is the pause, exactly', failing),
  'S001-rate-2': limited('without one the pauses are 5, 10, 20, 40, 80 and 160 s, give or take a fifth', failing),
  'S001-rate-3': limited(
    'after the last of them the failure is final, as RateLimited',
    failing,
    'six retries and so seven sends, where the seed says six in all: counts and schedule agree (CONTRACT 9)',
  ),
  'S001-rate-4': limited('no budget of retries is put on top of this schedule', failing),
  'S001-rate-5': limited('a provider may come with a rule of its own that replaces it', 'docs/guides/models.md'),
  'S001-schedule-1': schedules(
    'a provider of models that does not answer or fails is asked again after 1, 2 and 4 s, with jitter',
    failing,
    'three retries and so four sends, as the schedule has three pauses (CONTRACT 9)',
  ),
  'S001-schedule-2': schedules(
    'how a tool is retried is declared for the tool',
    failing,
    'where nothing is declared the default playbook of seed 003 holds, as far as a resend is safe (CONTRACT 9)',
  ),
  'S001-schedule-3': schedules(
    'a store is asked again after 2, 4 and 6 s, then the call is a session error',
    operations,
  ),
  'S001-ask-1': interaction('a person may be asked whether to try the call again', people),
  'S001-ask-2': interaction('a person may give other inputs', people),
  'S001-ask-3': interaction('a person may be asked to authenticate again, by a device code', people),
  'S001-ask-4': interaction('each question about a failure is on record, with its answer', people),
  'S001-partial-1': partial('a partial result has its payload in the declared shape', 'docs/guides/tools.md'),
  'S001-partial-2': partial('each failed item is a typed error of its own', 'docs/guides/tools.md'),
  'S001-partial-3': partial('an error never has the shape of a success', 'docs/guides/tools.md'),
};
