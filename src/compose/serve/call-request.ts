/** A call of a program, typed by the tools of its gateway. */
import type { SentTo, Tool } from '../../adapters/upstream-function/tool.ts';

export type Named<Tools extends readonly Tool[], Name> = Extract<Tools[number], { readonly name: Name }>;

export interface CallRequest<Tools extends readonly Tool[], Name extends Tools[number]['name']> {
  readonly tool: Name;
  readonly args: SentTo<Named<Tools, Name>>;
  readonly session?: string;
  readonly key?: string;
  readonly turn?: string;
  readonly expected_seq?: number;
  readonly wait_seconds?: number;
  readonly deadline_seconds?: number;
  /** Ids of reads that this call relies on. */
  readonly evidence_refs?: readonly string[];
}
