/** The words for a request that does not fit before it is a call: the same as for arguments, and nothing is recorded. */
import { refused } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import type { RequestName } from '../../core/http/http-bodies.ts';
import { requestBodies } from '../../core/http/http-bodies.ts';
import type { Json } from '../../core/values/json.ts';
import type { RouteName } from '../../core/http/http-routes.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { type Answer, reply } from './answer.ts';
import type { HttpDoorParts } from './parts.ts';

/** `what` is null if nothing could be read at all. */
export function refuseInput(
  what: RouteName | null,
  errors: readonly FieldError[],
  { newCallId }: Pick<HttpDoorParts, 'newCallId'>,
  code: 'InputInvalid' | 'InputTooLarge' = 'InputInvalid',
): Answer {
  const requested = what === null ? null : inSnakeCase(what);
  const envelope = { requested, callId: newCallId() as CallId, session: null, nextActions: [] };
  return reply(refused(envelope, invalidInput(requested, errors, code)));
}

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type Check = (value: Json) => readonly FieldError[];
const checks = new Map<RequestName, Check>();

/** What is wrong with a body, by the schema that is published. Calls and steps are read by the gateway itself. */
export function wrongInBody(value: unknown, name: RequestName): readonly FieldError[] {
  const known = checks.get(name);
  if (known !== undefined) return known(value as Json);
  const compiled = compileSchema(requestBodies[name]);
  invariant(compiled.ok, `the schema of ${name} can be compiled`);
  checks.set(name, compiled.check);
  return compiled.check(value as Json);
}
