/**
 * A transport that answers from a script, to test an agent without a gateway. A call that the script does not contain
 * is an error of the test, and is thrown.
 */
import type { ApprovalState } from '../../core/approval/approval.ts';
import type { ApprovalView } from '../../core/approval/approval-view.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Answer, Transport, WireCall } from '../transport/transport.ts';
import { unreachable } from '../unreachable.ts';
import type { Envelope, ScriptedAnswer } from './answers.ts';
import { scriptedClock, type ScriptedClock } from './scripted-clock.ts';

/**
 * By the gateway's name of the tool: one answer for every call, or a list, an answer for each attempt. `default`
 * answers for tools that are not named, and when a list has come to its end.
 */
export interface Script {
  readonly [tool: string]: ScriptedAnswer | readonly ScriptedAnswer[];
}

export interface ScriptOptions {
  /** True if the test moves the clock itself: `transport.clock.advance(2)`. */
  readonly manualClock?: boolean;
  /** What replies name as next actions. */
  readonly validNextActions?: readonly string[];
  /** By the id of an approval: its state, or one for each look; the last stands for all later ones. */
  readonly approvals?: Readonly<Record<string, ApprovalState | readonly ApprovalState[]>>;
  /** What is said to `complete`: one answer, or one for each time. */
  readonly complete?: ScriptedAnswer | readonly ScriptedAnswer[];
}

export interface ScriptedTransport extends Transport {
  /** Every attempt that was made, in order, as it would have travelled. */
  readonly calls: readonly WireCall[];
  /** The ids of approvals that were looked at, in order. */
  readonly looks: readonly string[];
  readonly clock: ScriptedClock;
}

export class UnscriptedCallError extends Error {
  override readonly name = 'UnscriptedCallError';
}

export function createScriptedTransport(script: Script, options: ScriptOptions = {}): ScriptedTransport {
  const { clock, pause } = scriptedClock(options.manualClock === true);
  const calls: WireCall[] = [];
  const looks: string[] = [];
  let completions = 0;
  const used = new Map<string, number>();
  const underWay = new Map<string, { readonly call: WireCall; readonly then: readonly ScriptedAnswer[] }>();

  const answerOf = (name: string): ScriptedAnswer | null => {
    const scripted = Object.hasOwn(script, name) ? script[name] : undefined;
    if (scripted === undefined) return null;
    if (!Array.isArray(scripted)) return scripted as ScriptedAnswer;
    const at = used.get(name) ?? 0;
    used.set(name, at + 1);
    return (scripted as readonly ScriptedAnswer[])[at] ?? null;
  };
  const unscripted = ({ tool, args }: WireCall): UnscriptedCallError => {
    const known = Object.keys(script).join(', ') || 'nothing';
    const times = calls.filter((each) => each.tool === tool).length;
    const problem = Object.hasOwn(script, tool)
      ? `is called for the ${times}. time, and its list is shorter`
      : 'is not scripted';
    return new UnscriptedCallError(
      `'${tool}' ${problem}: add an answer for ${JSON.stringify(args)}, or a 'default'; scripted are ${known}`,
    );
  };
  const answerTo = (scripted: ScriptedAnswer, call: WireCall, callId: string): Answer => {
    const envelope: Envelope = {
      requested: call.tool,
      valid_next_actions: options.validNextActions ?? [],
      call_id: callId,
      session: call.session ?? null,
    };
    switch (scripted.kind) {
      case 'reply':
        return answered(scripted.write(envelope, call));
      case 'pending': {
        underWay.set(callId, { call, then: scripted.then });
        const { requested, session } = envelope;
        const retry_after_seconds = scripted.seconds;
        return answered({ pending: true, call_id: callId, requested, session, retry_after_seconds });
      }
      case 'way':
        return scripted.answer;
      default:
        return unreachable(scripted);
    }
  };

  return {
    calls,
    looks,
    clock,
    pause,
    async send(call, signal) {
      if (signal?.aborted === true) return { kind: 'aborted', wasSent: false };
      calls.push(call);
      const scripted = answerOf(call.tool) ?? answerOf('default');
      if (scripted === null) throw unscripted(call);
      return answerTo(scripted, call, `call_scripted_${calls.length}`);
    },
    async look(callId, signal) {
      if (signal?.aborted === true) return { kind: 'aborted', wasSent: true };
      const found = underWay.get(callId);
      const [next, ...later] = found?.then ?? [];
      if (found === undefined || next === undefined) throw new UnscriptedCallError(`no call ${callId} is pending`);
      // The last answer stands for all later ones.
      if (later.length > 0) underWay.set(callId, { ...found, then: later });
      return answerTo(next, found.call, callId);
    },
    async approval(approvalId, _waitSeconds, signal) {
      if (signal?.aborted === true) return { kind: 'aborted', wasSent: false };
      const { approvals = {} } = options;
      const scripted = Object.hasOwn(approvals, approvalId) ? approvals[approvalId] : undefined;
      const states: readonly ApprovalState[] = typeof scripted === 'string' ? [scripted] : (scripted ?? []);
      const at = looks.filter((each) => each === approvalId).length;
      const state = states[Math.min(at, states.length - 1)];
      if (state === undefined)
        throw new UnscriptedCallError(`approval '${approvalId}' is not scripted: name its states in 'approvals'`);
      looks.push(approvalId);
      return { kind: 'answered', body: scriptedApproval(approvalId, state) };
    },
    async complete(session, signal) {
      if (signal?.aborted === true) return { kind: 'aborted', wasSent: false };
      const scripted = options.complete === undefined ? [] : [options.complete].flat();
      const answer = scripted[Math.min(completions, scripted.length - 1)];
      if (answer === undefined)
        throw new UnscriptedCallError("'complete' is not scripted: give an answer in 'complete'");
      completions += 1;
      const call = { tool: 'complete', args: {}, key: '', ...(session === undefined ? {} : { session }) };
      return answerTo(answer, call, `call_completed_${completions}`);
    },
  };
}

/** A copy, as it would come over the wire, so that no test changes the script. */
const answered = (reply: Reply): Answer => ({ kind: 'answered', body: JSON.parse(JSON.stringify(reply)) as unknown });

const time = '2026-01-01T00:00:00Z';
/** States after an approval was given. */
const approved: readonly ApprovalState[] = ['granted', 'used'];
/** States after a decision. */
const decided: readonly ApprovalState[] = [...approved, 'denied', 'revoked'];

function scriptedApproval(id: string, state: ApprovalState): ApprovalView {
  return {
    approval_id: id,
    state,
    agent: 'scripted',
    tool: 'scripted',
    session: null,
    call_id: 'call_scripted',
    args: {},
    rule_ref: 'recourse.yaml:1',
    reason: null,
    approvers: null,
    needed: 1,
    approved_by: approved.includes(state) ? [{ by: 'approver', at: time }] : [],
    decided: decided.includes(state) ? { by: 'approver', at: time, reason: null } : null,
    on_approve: 'wait',
    opened_at: time,
    expires_at: '2026-01-02T00:00:00Z',
    shown: '0'.repeat(64),
  };
}
