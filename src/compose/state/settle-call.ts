/**
 * Settles a call in doubt on a person's word, with or without a gateway that owns the store. Opens no door, recovers
 * nothing and sends nothing.
 */
import type { CallId } from '../../core/call/call.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { type Judged, type Judgement, settleDoubt } from '../../shell/ending/settle-doubt.ts';
import type { OpenedGateway } from '../serve/keep-open.ts';

export type Settled =
  | { readonly kind: Exclude<Judged, object>; readonly session: string | null; readonly state: string | null }
  | { readonly kind: 'quarantined'; readonly forMs: number }
  | { readonly kind: 'refused'; readonly message: string };

export async function settleCall(
  open: () => Promise<OpenedGateway>,
  callId: string,
  judgement: Judgement,
): Promise<Settled> {
  let opened: OpenedGateway;
  try {
    opened = await open();
  } catch (error) {
    if (error instanceof GatewayError) return { kind: 'refused', message: error.message };
    throw error;
  }
  try {
    const { store } = opened.shell.ports;
    const kind = await settleDoubt(callId as CallId, judgement, opened.shell);
    if (typeof kind === 'object') return { kind: 'quarantined', forMs: kind.quarantinedForMs };
    const call = await store.call(callId as CallId);
    const session = call === null || call.session === null ? null : await store.session(call.session);
    return { kind, session: session?.workflow === null ? null : (session?.id ?? null), state: call?.state ?? null };
  } finally {
    await opened.gateway.close({ drain_seconds: 0 });
  }
}
