/** What a denial is in TypeScript: governance refused the call or holds it, nothing ran, and here is the way out. */
import type { DeniedReply } from '../core/reply.ts';
import { type Resolution, resolutionOf } from './resolution.ts';

export class ToolDeniedError extends Error {
  override readonly name = 'ToolDeniedError';
  readonly code: DeniedReply['code'];
  /** A sentence for the person whom the agent works for. */
  readonly humanMessage: string;
  /** Where the rule stands, `file:line`; null if no rule spoke. */
  readonly ruleRef: string | null;
  readonly resolution: Resolution;
  /** The approval that is waited for; null if none is. */
  readonly approvalId: string | null;
  /** Nothing ran. */
  readonly effect = 'none';
  readonly tool: string | null;
  readonly callId: string;
  readonly session: string | null;
  readonly validNextActions: readonly string[];
  /** The key of the call: asking again with it can never run the call twice. Null if the client did not make the call. */
  readonly key: string | null;
  /** As it came from the gateway. */
  readonly reply: DeniedReply;

  constructor(reply: DeniedReply, asked: { readonly tool: string | null; readonly key: string | null }) {
    super(reply.human_message);
    this.code = reply.code;
    this.humanMessage = reply.human_message;
    this.ruleRef = reply.rule_ref ?? null;
    this.resolution = resolutionOf(reply.resolution);
    this.approvalId = this.resolution.type === 'pending_approval' ? this.resolution.approvalId : null;
    this.tool = reply.requested ?? asked.tool;
    this.callId = reply.call_id;
    this.session = reply.session;
    this.validNextActions = reply.valid_next_actions;
    this.key = asked.key;
    this.reply = reply;
  }

  /** Everything but the stack; `refusalOf(json.reply, json)` makes the error again. */
  toJSON(): Readonly<Record<string, unknown>> {
    return { ...(this as object), message: this.message };
  }
}
