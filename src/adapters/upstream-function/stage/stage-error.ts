/** The failure of an attempt of a stage: as it is kept on record, and as `next` reads it. */
import { classify, withCode } from '../../../core/recovery/classify.ts';
import type { ErrorSubject } from '../../../core/taxonomy.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import type { Failure } from '../../../ports/upstream.ts';

/** With the words of a reply, so that `next` and error edges see the same, and the failure itself. */
export function errorOf(failure: Failure, hadEffect: boolean): JsonObject {
  const subject = (failure.subject ?? undefined) as ErrorSubject | undefined;
  const { class: kind, code, verdict } = withCode(classify(failure.kind, subject, 'keyed'), failure.code);
  const { cause: _, ...kept } = failure;
  return {
    error: 'action_error',
    class: kind,
    code,
    verdict,
    effect: hadEffect ? 'applied' : 'none',
    message: failure.message,
    error_type: failure.errorType,
    failure: { ...kept, cause: null } as unknown as Json,
  };
}

export const isKnownFailure = (error: JsonObject): boolean => isObject(error['failure']);
