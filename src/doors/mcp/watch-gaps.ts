/**
 * What came in that policy cannot decide? Methods that nobody here knows, calls hidden in notifications, headers that contradict
 * their message: put on record, answered by whoever answers, never passed on. How often the same is recorded is not decided here.
 */
import type { Principal } from '../../core/call/call.ts';
import { isObject } from '../../core/values/json.ts';
import type { Notice } from '../../core/call/reply.ts';
import type { GapKind } from '../../shell/upkeep/runtime-gap.ts';
import type { McpDoorParts } from './parts.ts';

/** By which an agent says that work which went on after its call is complete. */
export const taskMethod = 'recourse/tasks/complete';

/** What a client may say by itself without wanting an answer. */
const knownNotifications: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/elicitation/complete',
  'notifications/tasks/status',
  taskMethod,
]);

const properNames = 'notifications/';
/** As many as the SDK takes in one list. */
const maxMessages = 100;

export interface GapWatch {
  /** What is said beside the answer; nothing where gaps are not recorded. Never rejects. */
  report(kind: GapKind, subject: string, who: Principal): Promise<readonly Notice[]>;
  /** Looks at what came without an id, alone or in a list. */
  look(body: unknown, who: Principal): void;
}

export function createGapWatch({ reportGap, notify }: Pick<McpDoorParts, 'reportGap' | 'notify'>): GapWatch {
  const report: GapWatch['report'] = async (kind, subject, who) => {
    try {
      return reportGap === undefined ? [] : [await reportGap({ kind, subject, who })];
    } catch (error) {
      notify({ kind: 'suppressed', what: `the record of a gap (${kind})`, reason: String(error) });
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

/** Of a notification only; null if there is nothing to be said about it. */
export function gapIn(message: unknown): { readonly kind: GapKind; readonly subject: string } | null {
  if (!isObject(message) || 'id' in message || typeof message['method'] !== 'string') return null;
  const { method, params } = message;
  if (knownNotifications.has(method)) return null;
  if (method.startsWith(properNames)) return { kind: 'unknown_method', subject: method };
  const name = method === 'tools/call' && isObject(params) ? params['name'] : undefined;
  return { kind: 'call_in_notification', subject: typeof name === 'string' ? name : method };
}
