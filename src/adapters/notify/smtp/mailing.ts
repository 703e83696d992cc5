/** People who are told by mail, and the server that takes it. */
import type { Subscriber } from '../follow/subscriber.ts';

export interface Mailing extends Subscriber {
  readonly via: 'smtp';
  /** smtp:// or smtps://, with user and password if the server wants them. */
  readonly server: string;
  readonly from: string;
  readonly to: readonly string[];
}
