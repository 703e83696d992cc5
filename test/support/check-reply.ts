/** What holds for every reply there is, whatever it says. Each reply of the conformance suite passes through here. */
import assert from 'node:assert/strict';
import { maxOffered } from '../../src/core/call/offer-tools.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { statusesOf } from '../../src/core/http/http-status.ts';
import { codes } from '../../src/core/taxonomy.ts';
import {
  type ErrorReply,
  httpStatusOf,
  isPending,
  isRefusal,
  isSuccess,
  type PendingReply,
  type Reply,
  replySchema,
  type SuccessReply,
} from '../../src/index.ts';

// Every test process compiles the schema once and asks little of it: making the code shorter takes longer than it
// saves.
const ajv = new Ajv2020({ strict: true, allErrors: true, code: { optimize: false } });
const matches = ajv.compile(replySchema());

export interface Surroundings {
  /** The tools in the order of their declaration. */
  readonly tools: readonly string[];
  /** Where the gateway keeps its own things: no business of a model. */
  readonly folder: string;
}

export function checkReply(value: unknown, around: Surroundings): Reply {
  assert.ok(matches(value), `${ajv.errorsText(matches.errors)}: ${JSON.stringify(value)}`);
  const reply = value as Reply;
  assert.deepEqual(JSON.parse(JSON.stringify(reply)), reply, 'a reply survives the wire as it is');
  assert.match(reply.call_id, /^call_[0-9a-z]{26}$/);
  assert.match(reply.session ?? 'ses_', /^ses_/);
  if (!isPending(reply)) {
    const { valid_next_actions: next, next_total: total } = reply;
    const declared = around.tools.filter((name) => next.includes(name));
    // Of a list that was cut the nearest are first.
    const told = total === undefined ? next : next.toSorted((one, other) => at(one, around) - at(other, around));
    assert.deepEqual(told, declared, 'next actions are tools, in the order of declaration');
    if (total !== undefined) assert.ok(next.length === maxOffered && total > maxOffered, 'only long lists are cut');
  }
  const text = JSON.stringify(reply);
  assert.ok(!text.includes(around.folder) && !text.includes('src/shell'), `no path of the gateway's own: ${text}`);
  assert.doesNotMatch(text, /\\n\s+at .+:\d+/, 'no stack');
  if (isRefusal(reply)) checkError(reply);
  return reply;
}

const at = (name: string, { tools }: Surroundings): number => tools.indexOf(name);

function checkError(reply: ErrorReply): void {
  const { error, code, effect, resolution } = reply;
  assert.ok(
    statusesOf(error, code).includes(httpStatusOf(reply)),
    `${error} ${code} has status ${httpStatusOf(reply)}`,
  );
  assert.notEqual(reply.message, '');
  if (reply.requested === null)
    assert.deepEqual(reply.valid_next_actions, [], 'what could not be read has no next action');
  if (effect === 'unknown')
    assert.deepEqual(resolution, { type: 'reconcile', call_id: reply.call_id }, 'a doubt is settled before all else');
  // What cannot be completed, or is fenced, names other calls that may be in doubt.
  else if (code !== 'COMPLETION_BLOCKED' && code !== 'Fenced')
    assert.notEqual(resolution.type, 'reconcile', 'where nothing is in doubt there is nothing to reconcile');
  // The advice after a failure of the tool is the playbook's; that of the gateway's own replies is published.
  const published: readonly string[] = codes[code].resolutions;
  if (error !== 'action_error')
    assert.ok(published.includes(resolution.type), `docs/codes/${code}.md knows no ${resolution.type}`);
  if (resolution.type === 'choose_action' && error !== 'unknown_action' && code !== 'COMPLETION_BLOCKED')
    assert.deepEqual(resolution.actions, reply.valid_next_actions);
}

export function successOf<Result = unknown>(reply: Reply<Result> | null): SuccessReply<Result> {
  assert.ok(reply !== null && isSuccess(reply), `a success, not ${JSON.stringify(reply)}`);
  return reply;
}

export function pendingOf(reply: Reply | null): PendingReply {
  assert.ok(reply !== null && isPending(reply), `pending, not ${JSON.stringify(reply)}`);
  return reply;
}

export function errorOf<Name extends ErrorReply['error']>(
  reply: Reply | null,
  name: Name,
): Extract<ErrorReply, { readonly error: Name }> {
  assert.ok(reply !== null && isRefusal(reply) && reply.error === name, `${name}, not ${JSON.stringify(reply)}`);
  return reply as Extract<ErrorReply, { readonly error: Name }>;
}
