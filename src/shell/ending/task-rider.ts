/** Work that goes on after its call has succeeded: the commit of the success says by when it must be reported. */
import type { EndRider } from './ending.ts';
import { note } from './transition.ts';

export const taskRider: EndRider = ({ from, next, ending, context: { reportsWithinMs } }, shell) => {
  // The task of an adopted result was opened by the call that did the work.
  if (ending.adopts !== undefined) return {};
  if (next.state !== 'SUCCEEDED' || from.state === 'SUCCEEDED' || reportsWithinMs === null) return {};
  const dueAtMs = shell.ports.clock.nowMs() + reportsWithinMs;
  const opened = note('task_opened', next, { tool: next.tool, due_at_ms: dueAtMs });
  return { parts: { task: { kind: 'open', call: next.id, dueAtMs }, notes: [opened] } };
};
