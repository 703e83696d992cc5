/**
 * The door for code in the same process. Adds who is asking, passes the value on unchanged, and returns the reply.
 * Decides nothing and does not throw for a call.
 * Path of a call: 1/7. Next: shell/call/handle-call.ts.
 */
import type { CallId, Principal, SessionId } from '../../core/call/call.ts';
import { describeLadder } from '../../core/call/decide.ts';
import { isObject } from '../../core/values/json.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Reply } from '../../core/call/reply.ts';
import { type Cancelled, cancelCall, cancelSession, cancelTurn } from '../../shell/ending/cancel.ts';
import { openSession } from '../../shell/session/fetch-session.ts';
import { handleCall, handleUnfit } from '../../shell/call/handle-call.ts';
import { replyWithNotices } from '../../shell/completion/tasks.ts';
import { type CredentialReport, reportCredentials } from '../../shell/look/report-credentials.ts';
import type { Shell } from '../../shell/shell.ts';
import { type Ceiling, reachOf, wrongOptions } from './check-options.ts';

export interface CallOptions {
  /** Who asks; the gateway's own agent if left out. */
  readonly agent?: string;
  readonly tenant?: string;
  /** Aborting it cancels the call; the reply then comes at once, with what is known of the effect. */
  readonly signal?: AbortSignal;
}

export type CancelTarget =
  | { readonly call: string }
  | { readonly session: string }
  | { readonly session: string; readonly turn: string };

export interface Status {
  readonly ready: boolean;
  readonly in_flight: number;
  readonly store: 'available' | 'unavailable';
  /** Every gate of the ladder, and whether it is configured. */
  readonly gates: readonly { readonly gate: string; readonly configured: boolean }[];
  /** Absent where none is declared. */
  readonly credentials?: readonly CredentialReport[];
}

export function createLibraryDoor(shell: Shell, self: Principal) {
  const who = (options: Omit<CallOptions, 'signal'>): Principal => ({
    tenant: options.tenant ?? self.tenant,
    agent: options.agent ?? self.agent,
  });
  return {
    async handle(value: unknown, options: CallOptions = {}): Promise<Reply> {
      const wrong = wrongOptions(options, shell.limits.maxNameChars);
      if (wrong.length > 0) return handleUnfit(wrong, self, shell);
      return handleCall(value, who(options), { cancelled: options.signal }, shell);
    },

    /** Opens a session for calls that belong together; `mode` limits how far they may reach. */
    async openSession({ mode, ...options }: Omit<CallOptions, 'signal'> & Ceiling = {}): Promise<string> {
      mustBeFit(options, shell);
      const opened = await openSession(who(options), false, shell, reachOf(mode));
      if ('fault' in opened) throw new GatewayError(opened.fault, `the session could not be opened: ${opened.message}`);
      return opened.id;
    },

    /** The reply of an earlier call; pending while it runs, null if this agent has no such call. */
    async reply(callId: string, options: Omit<CallOptions, 'signal'> = {}): Promise<Reply | null> {
      mustBeFit(options, shell);
      if (typeof callId !== 'string') return null;
      const call = await shell.ports.store.call(callId as CallId);
      const { tenant, agent } = who(options);
      if (call === null || call.tenant !== tenant || call.agent !== agent) return null;
      return replyWithNotices(call, shell);
    },

    async cancel(target: CancelTarget, options: Omit<CallOptions, 'signal'> = {}): Promise<Cancelled> {
      mustBeFit(options, shell);
      const names = isObject(target) ? Object.values(target) : [];
      if (names.length === 0 || names.some((name) => typeof name !== 'string')) return 'not_found';
      if (!('call' in target || 'session' in target)) return 'not_found';
      if ('call' in target) return cancelCall(target.call as CallId, who(options), shell);
      const session = target.session as SessionId;
      return 'turn' in target
        ? cancelTurn(session, target.turn, who(options), shell)
        : cancelSession(session, who(options), shell);
    },

    status(): Status {
      return {
        ready: shell.live.readiness.ready,
        in_flight: shell.live.running.size,
        store: shell.live.storeTrouble === null && !shell.live.closed ? 'available' : 'unavailable',
        gates: describeLadder(shell.ladder, shell.policy() !== null),
        ...(shell.ports.credentials === undefined ? {} : { credentials: reportCredentials(shell, true) }),
      };
    },
  };
}

/** Throws for bad options or a closed gateway. A call gets a reply instead. */
export function mustBeFit(options: unknown, shell: Shell): void {
  const [wrong] = wrongOptions(options, shell.limits.maxNameChars);
  if (wrong !== undefined) throw new GatewayError('bad_options', `${wrong.path} must be ${wrong.expected}`);
  if (shell.live.closed) throw new GatewayError('closed', 'the gateway is closed: create another one');
}
