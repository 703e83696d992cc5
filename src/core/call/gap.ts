/** The kinds of runtime gaps and their messages. Pure. shell/upkeep/record-runtime.ts records them. */
import { safeText } from '../values/redact.ts';
import type { Notice } from './reply.ts';
import { unreachable } from '../values/unreachable.ts';

export const gapKinds = {
  unknown_method: 'a request of MCP that the gateway does not know',
  call_in_notification: 'a call of a tool that nobody could be answered for',
  header_mismatch: 'headers that say something other than the message they came with',
  unreported_task: 'work that went on after its call and was not reported in time',
} as const;

export type GapKind = keyof typeof gapKinds;

/** Characters of a subject that are kept; it may be of any length. */
const maxSubjectChars = 200;

export const subjectOf = (subject: string): string => safeText(subject, maxSubjectChars);

/** It always stands beside another decision, and only a person can make something of it. */
export function gapNotice(kind: GapKind, subject: string): Notice {
  return {
    code: 'RUNTIME_GAP',
    human_message: sentenceOf(kind, subjectOf(subject)),
    resolution: { type: 'manual_audit' },
  };
}

function sentenceOf(kind: GapKind, subject: string): string {
  switch (kind) {
    case 'unknown_method':
      return `method '${subject}' is not known to the gateway, and was not passed on`;
    case 'call_in_notification':
      return `tool '${subject}' was called in a notification, which has no reply, and did not run`;
    case 'header_mismatch':
      return `headers of '${subject}' say something other than its message, which was refused`;
    case 'unreported_task':
      return `tool '${subject}' completed asynchronously without recourse/tasks/complete`;
    default:
      return unreachable(kind);
  }
}
