/** What the shell needs of the world. */
import type { Credentials } from '../ports/credentials.ts';
import type { Ids } from '../ports/ids.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Resolver } from '../ports/resolver.ts';
import type { Upstream } from '../ports/upstream.ts';
import type { Validator } from '../ports/validator.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';

export interface Ports {
  readonly store: Store;
  readonly upstream: Upstream;
  readonly validator: Validator;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly notify: Notifier;
  readonly resolver: Resolver;
  /** Absent where no credential is declared. */
  readonly credentials?: Credentials;
  /** SHA-256 of a text, in hex. */
  readonly sha256: (text: string) => string;
}
