/**
 * Does the work of a call go on after it has succeeded? Then the commit of the success also says by when it must be reported,
 * whoever found that it was one: a body that came back, or a person.
 */
import type { Call, CallId } from '../../core/call/call.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import type { Step } from '../ending/end-step.ts';
import type { Shell } from '../shell.ts';
import { note, type Papers } from '../ending/transition.ts';

/** `papers` as they are, unless the step from `from` to `next` is a success and `withinMs` says that the work goes on. */
export function withTask(papers: Papers, from: Call, next: Call, withinMs: number | null, shell: Shell): Papers {
  if (next.state !== 'SUCCEEDED' || from.state === 'SUCCEEDED' || withinMs === null) return papers;
  const dueAtMs = shell.ports.clock.nowMs() + withinMs;
  const opened = note('task_opened', next, { tool: next.tool, due_at_ms: dueAtMs });
  return {
    ...papers,
    task: { kind: 'open', call: next.id, dueAtMs },
    notes: [...(papers.notes ?? []), opened],
  };
}

/** Of a call that runs here. Null if its work ends with it. */
export function reportsWithin({ tool }: Call, step: Step | null, shell: Shell): number | null {
  const catalogue = step === null ? shell.catalogue() : step.fact.workflow.catalogue;
  return catalogue.get(tool)?.reportsWithinMs ?? null;
}

/** Of any call, as its tool was declared when it was prepared: whoever settles it need not have the tool. */
export async function reportsWithinAsDeclared(call: CallId, { ports }: Shell): Promise<number | null> {
  const { store } = ports;
  const prepared = (await store.recordsOf(call)).find(({ kind }) => kind === 'prepared');
  const { manifest, workflow } = fieldsOf(prepared?.body);
  const read = async (hash: unknown) =>
    fieldsOf(typeof hash === 'string' ? ((await store.blob(hash)) ?? undefined) : undefined);
  const declared = await read(manifest);
  if (typeof declared['boundTool'] !== 'string' || !isObject(workflow)) return withinIn(declared);
  const { tools } = await read(workflow['manifest']);
  return isObject(tools) ? withinIn(tools[declared['boundTool']]) : null;
}

function withinIn(declared: unknown): number | null {
  const within = isObject(declared) ? declared['reports_within_ms'] : null;
  return typeof within === 'number' ? within : null;
}

function fieldsOf(text: string | undefined): Readonly<Record<string, unknown>> {
  const value = text === undefined ? null : (JSON.parse(text) as Json);
  return isObject(value) ? value : {};
}
