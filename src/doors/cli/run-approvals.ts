/** Which command about approvals is it, and where is the gateway that it asks? */
import { approveCall, denyCall, listApprovals, revokeDecision, showApproval } from './commands/approvals.ts';
import type { ApprovalsParts, RunApprovals } from './commands/approvals-parts.ts';
import { sayNotFound, wishOf } from './daemon.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Command } from './arguments/read-command-line.ts';
import type { Terminal } from './terminal.ts';

const runs: Readonly<Record<string, RunApprovals>> = {
  'approvals ls': listApprovals,
  'approvals show': showApproval,
  'approvals approve': approveCall,
  'approvals deny': denyCall,
  'approvals revoke': revokeDecision,
  // A screen is loaded only for whoever looks at it.
  'approvals watch': async (...all) => (await import('./watch/watch-approvals.ts')).watchApprovals(...all),
};

export async function runApprovals(command: Command, parts: ApprovalsParts, terminal: Terminal): Promise<ExitCode> {
  const run = runs[command.name];
  if (run === undefined) throw new Error(`bug: ${command.name} is not about approvals`);
  const found = await parts.findDaemon(wishOf(command, 'operator', terminal));
  return found.kind === 'refused' ? sayNotFound(found, command, terminal) : run(command, found.daemon, parts, terminal);
}
