/** How far may the calls of a session reach, by the word of whoever opens it? */
import { GatewayError } from '../../core/values/gateway-error.ts';
import { type Reach, reaches } from '../../core/policy/policy.ts';

export interface Ceiling {
  readonly mode?: Reach;
}

/** INVARIANT: what is not understood opens nothing; a misspelt ceiling must not be none. */
export function reachOf(mode: unknown): Reach | null {
  if (mode === undefined) return null;
  const found = reaches.find((reach) => reach === mode);
  if (found === undefined) throw new GatewayError('bad_options', `mode must be one of ${reaches.join(', ')}`);
  return found;
}
