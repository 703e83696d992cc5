/** What is told once the gateway is ready: where it is, what stands behind it, who may come in. Data only. */
import type { ToldServer } from '../upstreams/tell-server.ts';
import type { Project } from '../project/load-project.ts';
import type { OperatorToken } from '../state/operator-token.ts';

export interface Ready {
  readonly file: string;
  readonly role: string;
  readonly upstreams: readonly (ToldServer & { readonly lastWords: readonly string[] })[];
  readonly tools: number;
  readonly url: string;
  readonly api: string;
  readonly workflows: readonly { readonly name: string; readonly url: string }[];
  /** Null without policy. */
  readonly mode: 'enforce' | 'audit' | null;
  readonly agents: readonly string[] | null;
  readonly warnings: Project['warnings'];
  /** What `recourse check` calls an error, in spite of which it was started. */
  readonly forced: Project['warnings'];
  /** Tools that are not as recourse.lock has them, a sentence each. */
  readonly drift: readonly string[];
  /** Who somebody without a key is. */
  readonly openAs: string | null;
  readonly operator: OperatorToken;
}
