/** The status of a session as a badge. */
import type { SessionGraph } from '../../../../src/core/workflow/trace/session-graph.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';

export type SessionStatus = SessionGraph['status'];

const tones: Readonly<Record<SessionStatus, Tone>> = {
  open: 'busy',
  done: 'good',
  stopped: 'bad',
  cancelled: 'quiet',
  closed: 'quiet',
};

export const statuses = Object.keys(tones) as readonly SessionStatus[];

export const SessionStatusBadge = ({ status }: { readonly status: SessionStatus }) => (
  <Badge tone={tones[status]}>{status}</Badge>
);
