/**
 * Reports messages that policy cannot decide: unknown methods, calls in notifications, headers that contradict their
 * message. They go on record and are never passed on. How often the same one is recorded is decided elsewhere.
 */
import type { Principal } from '../../core/call/call.ts';
import { isObject } from '../../core/values/json.ts';
import type { Notice } from '../../core/call/reply.ts';
import type { GapKind } from '../../shell/upkeep/record-runtime.ts';
import type { McpDoorParts } from './parts.ts';
import { suppressed } from '../../core/values/suppressed.ts';

/** Reports that work which continued after its call is complete. */
export const taskMethod = 'recourse/tasks/complete';

/** The notifications that MCP clients send. */
const knownNotifications: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
  taskMethod,
]);

const notificationPrefix = 'notifications/';
/** The SDK's limit for a batch. */
const maxMessages = 100;

export interface GapWatch {
  /** Returns the notices for the answer; none if gaps are not recorded. Never rejects. */
  report(kind: GapKind, subject: string, who: Principal): Promise<readonly Notice[]>;
  /** Checks the notifications of a body, single or batched. */
  look(body: unknown, who: Principal): void;
}

export function createGapWatch({ reportGap, notify }: Pick<McpDoorParts, 'reportGap' | 'notify'>): GapWatch {
  const report: GapWatch['report'] = async (kind, subject, who) => {
    try {
      return reportGap === undefined ? [] : [await reportGap({ kind, subject, who })];
    } catch (error) {
      notify(suppressed(`the record of a gap (${kind})`, error));
      return [];
    }
  };
  return {
    report,
    look(body, who) {
      for (const message of Array.isArray(body) ? body.slice(0, maxMessages) : [body]) {
        const gap = gapIn(message);
        if (gap !== null) void report(gap.kind, gap.subject, who);
      }
    },
  };
}

/** The gap that a notification is; null for any other message. */
export function gapIn(message: unknown): { readonly kind: GapKind; readonly subject: string } | null {
  if (!isObject(message) || 'id' in message || typeof message['method'] !== 'string') return null;
  const { method, params } = message;
  if (knownNotifications.has(method)) return null;
  if (method.startsWith(notificationPrefix)) return { kind: 'unknown_method', subject: method };
  const name = method === 'tools/call' && isObject(params) ? params['name'] : undefined;
  return { kind: 'call_in_notification', subject: typeof name === 'string' ? name : method };
}

const badRequest = 400;
/** The error code of revision 2026-07-28. */
const headerMismatch = -32_020;

/** Whether the SDK refused the request because its headers contradict the message or are missing. */
export async function isHeaderMismatch(answer: Response): Promise<boolean> {
  if (answer.status !== badRequest || answer.headers.get('content-type')?.startsWith('application/json') !== true)
    return false;
  const said: unknown = await answer.clone().json();
  return isObject(said) && isObject(said['error']) && said['error']['code'] === headerMismatch;
}

/** Names a message for the record. */
export function subjectOf(message: unknown): string {
  if (!isObject(message) || typeof message['method'] !== 'string') return 'a message';
  const { method, params } = message;
  const name = method === 'tools/call' && isObject(params) ? params['name'] : undefined;
  return typeof name === 'string' ? `${method} ${name}` : method;
}
