/** Which command of governing-commands.ts is it, and what does it need? Each is loaded when it is asked for. */
import type { ApplyParts } from './commands/apply.ts';
import type { ApprovalsParts } from './commands/approvals-parts.ts';
import type { CallParts } from './commands/call.ts';
import type { ExitCode } from './exit-codes.ts';
import type { ExplainParts } from './commands/explain.ts';
import type { governingCommands } from './arguments/governing-commands.ts';
import type { InitProject } from './commands/init.ts';
import type { PinTools } from './commands/pin.ts';
import type { Command } from './arguments/read-command-line.ts';
import type { StatusParts } from './commands/status.ts';
import type { Terminal } from './terminal.ts';

/** What the composition root hands in. */
export type GoverningParts = Omit<CallParts, 'timer'> &
  Omit<ApprovalsParts, 'timer'> &
  ExplainParts &
  ApplyParts & { readonly initProject: InitProject; readonly pinTools: PinTools };

type Parts = GoverningParts & Pick<CallParts, 'timer'> & StatusParts;
type Run = (command: Command, parts: Parts, terminal: Terminal) => Promise<ExitCode>;

const runs: Readonly<Record<keyof typeof governingCommands, Run>> = {
  init: async (command, { initProject }, terminal) =>
    (await import('./commands/init.ts')).runInit(command, initProject, terminal),
  pin: async (command, { pinTools }, terminal) =>
    (await import('./commands/pin.ts')).runPin(command, pinTools, terminal),
  explain: async (...all) => (await import('./commands/explain.ts')).runExplain(...all),
  call: async (...all) => (await import('./commands/call.ts')).runCall(...all),
  apply: async (...all) => (await import('./commands/apply.ts')).runApply(...all),
  status: async (...all) => (await import('./commands/status.ts')).runStatus(...all),
};

/** Null if it is none of them. */
export function governing(name: string): Run | null {
  return Object.hasOwn(runs, name) ? runs[name as keyof typeof runs] : null;
}
