/** Which tool does a stored call mean: one of the gateway's, or an action of its session's workflow? */
import type { Call } from '../../core/call/call.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import { manifestOf, readStep } from '../session/position.ts';
import type { Shell } from '../shell.ts';

export interface FoundTool {
  /** Undefined if this gateway does not have it. */
  readonly tool: ToolEntry | undefined;
  readonly step: StepFact | null;
}

export async function toolOf(call: Call, shell: Shell): Promise<FoundTool> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  if (session === null || session.workflow === null) return { tool: shell.catalogue().get(call.tool), step: null };
  const step = await readStep(session, null, null, shell);
  return { tool: step?.workflow.catalogue.get(call.tool), step };
}

/** INVARIANT: what a session began with one version of its workflow is not sent again by another, nor is the state moved by it. */
export async function toolToResend(call: Call, shell: Shell): Promise<FoundTool> {
  const found = await toolOf(call, shell);
  if (found.step === null || call.session === null) return found;
  const session = await shell.ports.store.session(call.session);
  const isPinned = session?.workflow?.manifest === manifestOf(found.step.workflow, shell);
  return isPinned ? found : { ...found, tool: undefined };
}
