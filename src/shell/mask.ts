/**
 * What must not be written or shown, by the word of the agent's policy? Masked before it reaches a record, a reply or a
 * workflow's state. The tool itself gets what was sent.
 */
import { canonicalText } from '../core/canonical.ts';
import { isObject, type Json } from '../core/json.ts';
import type { AgentPolicy } from '../core/policy/policy.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Upstream } from '../ports/upstream.ts';
import { policyOf, type Shell } from './shell.ts';

/** What stands in place of a masked value. */
const mark = '"[redacted]"';

/** Whether anything of it was masked, as far as the text tells; somebody's own text of this form counts too. */
export const isMasked = (text: string): boolean => text.includes(mark);

export function maskArgs(text: string, agent: string, shell: Shell): string {
  const policy = redacting(policyOf(agent, shell)?.agent);
  return policy === null ? text : canonicalText(policy.mask('args', JSON.parse(text) as Json));
}

/** A refusal shows what was sent in the wrong fields. */
export function maskRefusal(refusal: Refusal, agent: string, shell: Shell): Refusal {
  const policy = redacting(policyOf(agent, shell)?.agent);
  if (policy === null || refusal.error !== 'validation_failed') return refusal;
  const errors = refusal.errors.map((error) => ({ ...error, got: maskAt(error.path, error.got as Json, policy) }));
  return { ...refusal, errors, details: { ...refusal.details, got: errors[0]?.got ?? null } };
}

/** Every result passes through here before anybody looks at it. */
export function maskResults(upstream: Upstream, policyFor: (agent: string) => AgentPolicy | null): Upstream {
  return {
    async invoke(attempt, signal) {
      const result = await upstream.invoke(attempt, signal);
      const policy = redacting(policyFor(attempt.agent));
      if (policy === null || result.kind !== 'returned') return result;
      return { ...result, output: policy.mask('result', result.output as Json) };
    },
  };
}

function redacting(policy: AgentPolicy | null | undefined): AgentPolicy | null {
  return policy === null || policy === undefined || policy.written.redact.length === 0 ? null : policy;
}

/** Masks a value as if it stood where it was found. */
function maskAt(pointer: string, value: Json, policy: AgentPolicy): Json {
  const steps = pointer.split('/').slice(1);
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const whole = names.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
  let masked: Json | undefined = policy.mask('args', whole);
  for (const name of names) {
    // Something around it was masked as a whole.
    if (!isObject(masked)) return masked ?? null;
    masked = (masked as Readonly<Record<string, Json>>)[name];
  }
  return masked ?? null;
}
