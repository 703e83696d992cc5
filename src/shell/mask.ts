/**
 * Masks values that the agent's policy hides, before they reach a record, a reply or a workflow's state. The tool
 * itself gets what was sent.
 */
import { canonicalText } from '../core/values/canonical.ts';
import type { Json } from '../core/values/json.ts';
import { type Hide, hiderOf } from '../core/policy/hide-values.ts';
import type { AgentPolicy } from '../core/policy/policy.ts';
import type { Refusal } from '../core/call/refusal.ts';
import { gotOf } from '../core/schema/field-errors.ts';
import { stepsOf, valueAt } from '../core/schema/json-pointer.ts';
import type { Attempt, Failure, GivenWithFailure, Upstream, UpstreamResult } from '../ports/upstream.ts';
import { policyOf, type Shell } from './shell.ts';

type Returned = Extract<UpstreamResult, { kind: 'returned' }>;
type Failed = Extract<UpstreamResult, { kind: 'failed' }>;

/** What a masked value is replaced with. */
const maskText = '"[redacted]"';

/** Whether anything in it was masked. An agent's own text of the same form counts too. */
export const isMasked = (text: string): boolean => text.includes(maskText);

export function maskArgs(text: string, agent: string, shell: Shell): string {
  const policy = redactingPolicy(policyOf(agent, shell)?.agent);
  return policy === null ? text : canonicalText(policy.mask('args', JSON.parse(text) as Json));
}

/** The same for arguments that are not text: what a workflow's state is made from. */
export function maskInputs(inputs: Json, agent: string, shell: Shell): Json {
  return redactingPolicy(policyOf(agent, shell)?.agent)?.mask('args', inputs) ?? inputs;
}

/**
 * A refusal shows the values of wrong fields, and a validator's message may quote them. `argsText` is all that was
 * sent; null if it could not be read.
 */
export function maskRefusal(refusal: Refusal, argsText: string | null, agent: string, shell: Shell): Refusal {
  const policy = redactingPolicy(policyOf(agent, shell)?.agent);
  if (policy === null) return refusal;
  const sent = argsText === null ? undefined : (JSON.parse(argsText) as Json);
  const masked = refusal.error === 'validation_failed' ? maskFields(refusal, sent, policy) : refusal;
  const hide = sent === undefined ? null : hiderOf([argsPair(sent, policy)]);
  return hide === null ? masked : hideQuotes(masked, hide);
}

/** Only in free text: the agent needs the names of actions, rules and fields. */
function hideQuotes(refusal: Refusal, hide: Hide): Refusal {
  const quoted = { ...refusal, message: hide(refusal.message) };
  if (quoted.error !== 'validation_failed') return quoted;
  const errors = quoted.errors.map((error) => ({ ...error, expected: hide(error.expected) }));
  return { ...quoted, reason: hide(quoted.reason), errors };
}

function maskFields(
  refusal: Extract<Refusal, { error: 'validation_failed' }>,
  sent: Json | undefined,
  policy: AgentPolicy,
): Refusal {
  const errors = refusal.errors.map((error) => ({
    ...error,
    got: maskGot(error.path, error.got as Json, sent, policy),
  }));
  return { ...refusal, errors, details: { ...refusal.details, got: errors[0]?.got ?? null } };
}

/** A large value is shown as a cut text, which cannot be masked by path: so the masked value is shown anew. */
function maskGot(path: string, got: Json, sent: Json | undefined, policy: AgentPolicy): Json {
  const steps = stepsOf(path);
  const was = sent === undefined ? undefined : valueAt(sent, steps);
  if (sent === undefined || was === undefined) return maskAt(withinRequest(steps), maskAt(steps, got, policy), policy);
  const is = stepInto(policy.mask('args', sent), steps);
  return is === was ? got : gotOf(is);
}

/** Errors of an unreadable call have paths into the request, where the arguments are one field. */
const withinRequest = (steps: readonly string[]): readonly string[] =>
  steps[0] === 'args' || steps[0] === 'inputs' ? steps.slice(1) : steps;

/** Masks every result before anything else sees it. */
export function maskResults(upstream: Upstream, policyFor: (agent: string) => AgentPolicy | null): Upstream {
  return {
    async invoke(attempt, signal, late) {
      const masked = (result: UpstreamResult): UpstreamResult => {
        const policy = redactingPolicy(policyFor(attempt.agent));
        if (policy === null) return result;
        return result.kind === 'returned' ? maskReturned(result, attempt, policy) : maskFailed(result, attempt, policy);
      };
      // A late result is masked like one in time.
      const hearLate = late && ((result: UpstreamResult) => late(masked(result)));
      return masked(await upstream.invoke(maskSuppressed(attempt, policyFor), signal, hearLate));
    },
  };
}

/** An error that a body ignores may quote the arguments too. */
function maskSuppressed(attempt: Attempt, policyFor: (agent: string) => AgentPolicy | null): Attempt {
  const { suppressed } = attempt;
  if (suppressed === undefined) return attempt;
  const hidden: Attempt['suppressed'] = (told) => {
    const policy = redactingPolicy(policyFor(attempt.agent));
    const hide = policy === null ? null : hiderOf([argsPair(attempt.args, policy)]);
    suppressed(hide === null ? told : hide(told));
  };
  return { ...attempt, suppressed: hidden };
}

/** The messages of failed items may quote the arguments, and masked parts of the output. */
function maskReturned(result: Returned, { args }: Attempt, policy: AgentPolicy): UpstreamResult {
  const before = result.output as Json;
  const output = policy.mask('result', before);
  const hide = result.errors.length === 0 ? null : hiderOf([[before, output], argsPair(args, policy)]);
  return { ...result, output, errors: hide === null ? result.errors : hide(result.errors) };
}

/** INVARIANT: a failure shows nothing that is masked in a result or in the arguments. */
function maskFailed({ failure }: Failed, { args }: Attempt, policy: AgentPolicy): UpstreamResult {
  const { given, ...said } = failure;
  const pairs = [argsPair(args, policy)];
  let told: Omit<Failure, 'given'> = said;
  if (given !== undefined) {
    const output = maskGiven(given, policy);
    pairs.push([given.output, output]);
    if (output !== given.output) told = { ...said, ...given.tell(output) };
  }
  if (told.partial !== undefined) {
    const partial = policy.mask('result', told.partial);
    pairs.push([told.partial, partial]);
    told = { ...told, partial };
  }
  const hide = hiderOf(pairs);
  if (hide === null) return { kind: 'failed', failure: told };
  const { errorType, message, cause } = told;
  return { kind: 'failed', failure: { ...told, ...hide({ errorType, message, cause }) } };
}

function maskGiven({ output, withoutWords }: GivenWithFailure, policy: AgentPolicy): Json {
  const hidesResults = policy.written.redact.some((path) => path.startsWith('result.'));
  return hidesResults && withoutWords !== undefined ? withoutWords : policy.mask('result', output);
}

const argsPair = (args: Json, policy: AgentPolicy): readonly [Json, Json] => [args, policy.mask('args', args)];

function redactingPolicy(policy: AgentPolicy | null | undefined): AgentPolicy | null {
  return policy === null || policy === undefined || policy.written.redact.length === 0 ? null : policy;
}

/** Masks a value as if it stood where it was found. */
function maskAt(steps: readonly string[], value: Json, policy: AgentPolicy): Json {
  const whole = steps.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
  return stepInto(policy.mask('args', whole), steps);
}

function stepInto(masked: Json, steps: readonly string[]): Json {
  let found: Json | undefined = masked;
  for (const name of steps) {
    // An enclosing value was masked as a whole.
    if (typeof found !== 'object' || found === null) return found ?? null;
    found = (found as Readonly<Record<string, Json>>)[name];
  }
  return found ?? null;
}
