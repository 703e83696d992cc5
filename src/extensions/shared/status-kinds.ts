/** What a status alone says of a failure. */
import type { ProviderFailure } from '../../extension/index.ts';

export type Meaning = Pick<ProviderFailure, 'kind' | 'subject'>;

const plain = (kind: Meaning['kind']): Meaning => ({ kind, subject: null });

/** No pause heals it: somebody must pay. */
export const quota: Meaning = { kind: '429', subject: 'quota' };
export const overloaded: Meaning = { kind: '5xx', subject: 'overloaded' };

const meanings: Readonly<Record<number, Meaning>> = {
  401: plain('401_unauthenticated'),
  402: quota,
  403: plain('403_forbidden'),
  404: plain('404_not_found'),
  408: plain('timeout'),
  409: plain('409_conflict'),
  425: plain('429'),
  429: plain('429'),
  451: plain('403_forbidden'),
  529: overloaded,
};

export function meaningOfStatus(status: number): Meaning {
  const known = Object.hasOwn(meanings, status) ? meanings[status] : undefined;
  if (known !== undefined) return known;
  if (status >= 500) return plain('5xx');
  return plain(status >= 400 ? '400_invalid' : 'unknown');
}
