/**
 * The closed list of kinds in which an adapter reports a failure of its upstream. An adapter that cannot tell says
 * `unknown`; message texts are never read.
 */
import type { Entry } from './entry.ts';

interface KindEntry extends Entry {
  /** What the failure was about, where the kind alone does not tell. */
  readonly subjects: readonly string[];
}

export const kinds = {
  timeout: {
    title: 'No answer in time',
    meaning: 'The request was sent, or may have been, and no answer came before the time limit.',
    agent: 'Read the effect of the reply before you do anything that would repeat the call.',
    operator: 'Compare the time limit of the tool with how long its upstream really takes.',
    subjects: [],
  },
  never_sent: {
    title: 'Never sent',
    meaning: 'The transport proves that no byte of the request reached the upstream.',
    agent: 'Nothing happened, so the call may be asked again later.',
    operator: 'Check that the upstream is running and reachable from the gateway.',
    subjects: ['breaker_open', 'not_connected', 'egress'],
  },
  '5xx': {
    title: 'Upstream error',
    meaning: 'The upstream answered that it failed on its own side.',
    agent: 'Follow the resolution; the gateway has already retried where that was safe.',
    operator: "Look at the upstream's own logs for the time of the call.",
    subjects: ['stream_broken', 'overloaded'],
  },
  '429': {
    title: 'Upstream rate limit',
    meaning: 'The upstream refused the request because too many arrived.',
    agent: 'Wait as long as the resolution says.',
    operator: 'Lower the rate limit of the tool in the configuration, or raise it at the upstream.',
    subjects: ['quota'],
  },
  '400_invalid': {
    title: 'Upstream refused the input',
    meaning: 'The upstream read the request and found its input wrong.',
    agent: 'Correct the input and ask again.',
    operator: "Tighten the tool's schema so that such input is refused before it is sent.",
    subjects: ['context_window', 'content_refused'],
  },
  '401_unauthenticated': {
    title: 'Upstream did not accept the credential',
    meaning: 'The upstream refused the request because the credential is missing, expired or revoked.',
    agent: 'Do not repeat the call until somebody has authenticated again.',
    operator: 'Renew the credential of this upstream.',
    subjects: [],
  },
  '403_forbidden': {
    title: 'Upstream forbids it',
    meaning: 'The upstream knows the caller and does not allow the request.',
    agent: 'Do not look for a way around it; a person decides.',
    operator: 'Decide whether the agent should have this permission at the upstream.',
    subjects: [],
  },
  '404_not_found': {
    title: 'Upstream does not know the thing',
    meaning: 'The upstream has nothing at the address or identifier that the request names.',
    agent: 'Check the identifier, for instance by a read, and ask again.',
    operator: 'Check that the tool points at the right upstream and path.',
    subjects: [],
  },
  '409_conflict': {
    title: 'Conflict at the upstream',
    meaning: 'The upstream refused because of an earlier request; the subject tells what it knows about our key.',
    agent: 'Do not send the call again; read the current state first.',
    operator: 'If no subject is given, teach the adapter to read what the upstream says about the key.',
    subjects: ['in_flight', 'completed', 'mismatch'],
  },
  '412_precondition': {
    title: 'Precondition failed',
    meaning: 'The upstream refused because something the request relies on is no longer so.',
    agent: 'Read the current state again and decide anew.',
    operator: 'Nothing, unless it happens often; then the agent reads too long before it writes.',
    subjects: ['evidence'],
  },
  schema_validation: {
    title: 'Shape does not match the schema',
    meaning: 'The request, or the response, does not have the shape that the tool declares.',
    agent: 'Correct the request; if the response was wrong, follow the resolution and do not repeat a write.',
    operator: "Bring the tool's declared schema and its upstream into agreement.",
    subjects: ['request', 'response'],
  },
  cancelled: {
    title: 'Cancelled while running',
    meaning: 'The call was stopped after it may have been sent.',
    agent: 'Read the effect of the reply: a stopped write may still have happened.',
    operator: 'Nothing, if the cancellation was wanted.',
    subjects: [],
  },
  threw: {
    title: 'The body threw',
    meaning: 'The function behind the tool raised an error of its own.',
    agent: 'Read the error type and message; they are those of the tool.',
    operator: "Look at the tool's own code or logs.",
    subjects: ['egress'],
  },
  unknown: {
    title: 'Not recognised',
    meaning: 'The adapter could not tell what went wrong.',
    agent: 'Treat the call as possibly done and follow the resolution.',
    operator: 'Extend the adapter so that it names this failure.',
    subjects: ['egress'],
  },
} as const satisfies Record<string, KindEntry>;

export type ErrorKind = keyof typeof kinds;
export type ErrorSubject = (typeof kinds)[ErrorKind]['subjects'][number];

/** The `error` of a ToolResult: what an adapter reports, and what `exhausted` repeats. */
export interface ToolError {
  readonly kind: ErrorKind;
  readonly subject?: ErrorSubject;
  readonly message: string;
  /** Seconds, as the upstream asked. */
  readonly retry_after?: number;
}
