/** What the commands about approvals are given, and what each of them is. Types only. */
import type { Daemon, FindDaemon } from '../daemon.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import type { Terminal } from '../terminal.ts';
import type { Timer } from '../until-stopped.ts';

export interface ApprovalsParts {
  readonly findDaemon: FindDaemon;
  readonly timer: Timer;
  readonly nowMs: () => number;
  /** The text of a file, or a sentence that says why it cannot be read. */
  readonly readText: (file: string) => Promise<{ readonly text: string } | { readonly problem: string }>;
}

export type RunApprovals = (
  command: Command,
  daemon: Daemon,
  parts: ApprovalsParts,
  terminal: Terminal,
) => Promise<ExitCode>;
