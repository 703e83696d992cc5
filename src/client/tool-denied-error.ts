/** The error for a denial: governance refused or holds the call, nothing ran, and `resolution` says what to do. */
import type { DeniedReply } from '../core/call/reply.ts';
import { type Resolution, resolutionOf } from './resolution.ts';

class Denied extends Error {
  override readonly name = 'ToolDeniedError';
  readonly code: DeniedReply['code'];
  /** A sentence for the person whom the agent works for. */
  readonly humanMessage: string;
  /** Where the rule stands, `file:line`; null if no rule spoke. */
  readonly ruleRef: string | null;
  /** The budget that is used up; null if it is about none. */
  readonly budgetId: string | null;
  /** The provider whose credential could not be had; null if it is about none. */
  readonly provider: string | null;
  readonly resolution: Resolution;
  /** The approval that is waited for; null if none is. With the code POLICY_DEFER there is one. */
  readonly approvalId: string | null;
  /** Nothing ran. */
  readonly effect = 'none';
  readonly tool: string | null;
  readonly callId: string;
  readonly session: string | null;
  readonly validNextActions: readonly string[];
  /**
   * The key of the call: asking again with it can never run the call twice. Null if the client did not make the call.
   */
  readonly key: string | null;
  /** As it came from the gateway. */
  readonly reply: DeniedReply;

  constructor(reply: DeniedReply, asked: { readonly tool: string | null; readonly key: string | null }) {
    super(reply.message);
    this.code = reply.code;
    this.humanMessage = reply.human_message;
    this.ruleRef = reply.rule_ref ?? null;
    this.budgetId = reply.budget_id ?? null;
    this.provider = reply.provider ?? null;
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

type Code = DeniedReply['code'];

/** A person is asked. */
interface Held extends Denied {
  readonly code: 'POLICY_DEFER';
  readonly approvalId: string;
}

interface Refused extends Denied {
  readonly code: Exclude<Code, 'POLICY_DEFER'>;
}

/** `code` tells them apart: a call that is held has an approval. */
export type ToolDeniedError = Held | Refused;

export const ToolDeniedError = Denied as unknown as {
  new (...given: ConstructorParameters<typeof Denied>): ToolDeniedError;
  /** For the compiler: `instanceof` tells both cases from everything else. */
  [Symbol.hasInstance](value: unknown): value is ToolDeniedError;
};
