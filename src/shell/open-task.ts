/** Does the work of a call go on after it has succeeded? Then the commit of the success also says by when it must be reported. */
import type { Call } from '../core/call.ts';
import type { Step } from './end-step.ts';
import type { Shell } from './shell.ts';
import { note, type Papers } from './transition.ts';

/** `papers` as they are, unless the step from `from` to `next` is the success of such a tool. */
export function withTask(papers: Papers, from: Call, next: Call, step: Step | null, shell: Shell): Papers {
  if (next.state !== 'SUCCEEDED' || from.state === 'SUCCEEDED') return papers;
  const catalogue = step === null ? shell.catalogue() : step.fact.workflow.catalogue;
  const withinMs = catalogue.get(next.tool)?.reportsWithinMs ?? null;
  if (withinMs === null) return papers;
  const dueAtMs = shell.ports.clock.nowMs() + withinMs;
  const opened = note('task_opened', next, { tool: next.tool, due_at_ms: dueAtMs });
  return {
    ...papers,
    task: { kind: 'open', call: next.id, dueAtMs },
    notes: [...(papers.notes ?? []), opened],
  };
}
