/**
 * The verdicts on a failure, before a compensation is chosen. A new verdict needs a decision record and a golden test
 * (docs/decisions/0010-four-more-verdicts.md).
 */
import type { Entry } from './entry.ts';

export const verdicts = {
  transient_timeout: {
    title: 'Transient timeout',
    meaning: 'The upstream was too slow, or could not be reached at all.',
    agent: 'Read the effect: where it is unknown the call may have happened.',
    operator: 'Check the reachability and the time limit of the upstream.',
  },
  server_error_5xx: {
    title: 'Server error',
    meaning: 'The upstream reported an error of its own, or failed in a way nobody recognises.',
    agent: 'Follow the resolution; do not repeat a write on your own.',
    operator: "Look at the upstream's logs; an unrecognised failure also opens a ticket.",
  },
  idempotency_conflict: {
    title: 'Idempotency conflict',
    meaning: 'The upstream has already met the key of this call.',
    agent: 'Assume the call may already have happened, read the current state and plan from there.',
    operator: 'A mismatch means that one key was used for two different requests; find out by whom.',
  },
  evidence_stale: {
    title: 'Evidence is stale',
    meaning: 'What the call relies on has changed since it was read.',
    agent: 'Read the evidence again and decide anew.',
    operator: 'Nothing; an approval given on the old evidence is void.',
  },
  policy_denied: {
    title: 'Denied by policy',
    meaning: 'Policy refused the call once it was under way: that of the upstream, or ours as it stands now.',
    agent: 'Do not rephrase the call; a person decides.',
    operator: 'Resolve the ticket: grant the permission or confirm the refusal.',
  },
  schema_mismatch: {
    title: 'Schema mismatch',
    meaning: 'The shape of the request or the response is not the declared one.',
    agent: 'Do not repeat a write whose response could not be read; it may have happened.',
    operator: 'Bring the declared schema and the upstream into agreement; a ticket is open.',
  },
  rate_limited: {
    title: 'Rate limited by the upstream',
    meaning: 'The upstream refused because of how many requests came, and did nothing.',
    agent: 'Wait as long as the resolution says.',
    operator: 'Give the tool a rate limit below that of its upstream.',
  },
  invalid_request: {
    title: 'Invalid request',
    meaning: 'The upstream refused the request because of what it says, and did nothing.',
    agent: 'Change the input; the same request will be refused again.',
    operator: "Tighten the tool's schema or validators if agents often run into this.",
  },
  auth_expired: {
    title: 'Credential no longer accepted',
    meaning: 'The upstream did not accept the credential, and did nothing.',
    agent: 'Wait until somebody has authenticated again.',
    operator: 'Renew the credential of this upstream.',
  },
  cancelled: {
    title: 'Cancelled',
    meaning: 'The call was stopped on request while it was under way.',
    agent: 'Do not send it again by yourself; read the effect.',
    operator: 'Nothing, if the cancellation was wanted.',
  },
} as const satisfies Record<string, Entry>;

export type Verdict = keyof typeof verdicts;
