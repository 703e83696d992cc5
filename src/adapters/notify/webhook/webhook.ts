/** An address that messages are posted to. */
import type { Subscriber } from '../follow/subscriber.ts';

export interface Webhook extends Subscriber {
  readonly via: 'webhook';
  readonly url: string;
  /** What its messages are signed with; null leaves them unsigned. */
  readonly secret: string | null;
  readonly format: 'json' | 'slack';
}
