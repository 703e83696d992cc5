/**
 * Answers `next` and `history`, for clients that read no resources: the same content as the resources, with a text for
 * the model.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { cut, pointerStep, preview } from '../../../core/values/canonical.ts';
import type { FieldError } from '../../../core/call/catalogue.ts';
import type { JsonObject } from '../../../core/values/json.ts';
import type { ErrorReply } from '../../../core/call/reply.ts';
import type { HistoryPage, SessionView } from '../../../shell/session/workflow-service.ts';
import { ownSession } from '../connection.ts';
import { offer } from '../door-names.ts';
import type { OwnTool } from '../own-tools.ts';
import type { ServedWorkflow } from '../parts.ts';
import { argumentsOf, type ToolCall } from './read-tool-call.ts';
import { contentOf } from '../resources.ts';
import type { Serving } from '../serving.ts';
import { writeResult } from './write-result.ts';

type Telling = Extract<OwnTool, 'next' | 'history'>;

const fieldsOf: Readonly<Record<Telling, readonly string[]>> = {
  next: ['session'],
  history: ['session', 'after', 'limit'],
};
const defaultEntries = 20;
const maxTextChars = 4_000;
const maxReasonChars = 160;

export async function answerSessionTool(
  tool: Telling,
  call: ToolCall,
  served: ServedWorkflow,
  serving: Serving,
): Promise<CallToolResult> {
  const { parts, connection, limits } = serving;
  const refuse = async (wrong: FieldError) => writeResult(await parts.unfit([wrong], connection.who), false);
  const given = argumentsOf(call);
  const wrong = wrongIn(given, tool);
  if (given === null || wrong !== null) return refuse(wrong ?? notAnObject(call));
  const named = given['session'] ?? call.controls['session'] ?? null;
  const session = named ?? (await ownSession(connection, served));
  if (typeof session !== 'string')
    return refuse({ path: '/session', expected: 'the session that an earlier reply named', got: preview(session) });
  const { after = 0, limit = defaultEntries } = given as { readonly after?: number; readonly limit?: number };
  const most = Math.min(limit, limits.historyPage);
  const told: unknown = await contentOf({ name: tool, session, after, limit: most }, served, serving);
  const answer = told as ErrorReply | HistoryPage | Partial<SessionView>;
  if ('error' in answer) return writeResult(offer(answer, parts), connection.stateless);
  const text = 'entries' in answer ? historyText(answer) : nextText(answer);
  return { content: [{ type: 'text', text }], structuredContent: told as JsonObject };
}

function wrongIn(given: Readonly<Record<string, unknown>> | null, tool: Telling): FieldError | null {
  const fields = fieldsOf[tool];
  const unknown = Object.keys(given ?? {}).find((field) => !fields.includes(field));
  if (unknown !== undefined)
    return { path: `/${pointerStep(cut(unknown, 100))}`, expected: `only ${fields.join(', ')}`, got: null };
  for (const [field, least] of [
    ['after', 0],
    ['limit', 1],
  ] as const) {
    const value = given?.[field];
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
      return { path: `/${field}`, expected: `a whole number from ${least}`, got: preview(value) };
  }
  return null;
}

function notAnObject({ args }: ToolCall): FieldError {
  return { path: '/arguments', expected: 'an object', got: preview(args) };
}

function nextText({ valid_next_actions: next = [], next_action_schemas: schemas, status, seq }: Partial<SessionView>) {
  const over = status === 'done' ? ' The workflow has ended: reset the session, or open another, to begin anew.' : '';
  const list = next.length === 0 ? 'nothing' : next.join(', ');
  const written = JSON.stringify(schemas ?? {});
  const inputs = next.length === 0 || written.length > maxTextChars ? '' : ` inputs: ${written}`;
  return `next: ${cut(list, maxTextChars)}. status ${status}, seq ${seq}.${over}${inputs}`;
}

function historyText({ entries, next }: HistoryPage): string {
  const lines = entries.map(({ entry, kind, action, outcome, reason }) => {
    const what = [kind === 'attempt' ? null : kind, action, outcome].filter((part) => part !== null).join(' ');
    return `#${entry} ${what}${reason === null ? '' : `: ${cut(reason, maxReasonChars)}`}`;
  });
  const more = next === null ? '' : `\nMore follows: after ${next}.`;
  return `${cut(lines.join('\n'), maxTextChars)}${more}`;
}
