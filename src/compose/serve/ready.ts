/** What `recourse up` tells when it is ready. Types only. */
import type { Project } from '../project/load-project.ts';
import type { OperatorToken } from '../state/operator-token.ts';
import type { ServerSummary } from '../upstreams/report-servers.ts';

export interface Ready {
  readonly file: string;
  readonly role: string;
  readonly upstreams: readonly (ServerSummary & { readonly lastWords: readonly string[] })[];
  readonly tools: number;
  readonly url: string;
  readonly api: string;
  readonly workflows: readonly { readonly name: string; readonly url: string }[];
  /** Null without policy. */
  readonly mode: 'enforce' | 'audit' | null;
  readonly agents: readonly string[] | null;
  readonly warnings: Project['warnings'];
  /** Errors of `recourse check` in spite of which it was started. */
  readonly forced: Project['warnings'];
  /** Tools that differ from recourse.lock, one sentence each. */
  readonly drift: readonly string[];
  /** The agent of requests without a key. */
  readonly openAs: string | null;
  readonly operator: OperatorToken;
  /** Opens the console once. */
  readonly console: string | null;
}
