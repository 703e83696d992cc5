/** The wire type of the files that a policy is written in. */
import type { PolicyLine } from './policy-text.ts';

/** What `recourse check` says about a place of the configuration. */
export interface ToldPlace {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
}

/** The files of the policy as they are on disk now. */
export interface PolicyFile {
  /** Of the policy in force; null without one. */
  readonly mode: 'enforce' | 'audit' | null;
  /** False if what is on disk would decide otherwise than what is in force. */
  readonly in_force: boolean;
  /** Named as rules refer to them, the main one first. */
  readonly files: readonly {
    readonly file: string;
    readonly lines: readonly PolicyLine[];
    readonly complete: boolean;
  }[];
  readonly problems: readonly ToldPlace[];
}
