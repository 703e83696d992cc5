/**
 * Puts on record what a body asks its agent's user or model, and whether an answer came. The question stands in a payload that can
 * be erased. What the user wrote is not kept: it belongs to the body alone.
 */
import type { Call } from '../../core/call/call.ts';
import { canonicalText, preview } from '../../core/values/canonical.ts';
import { safeText } from '../../core/values/redact.ts';
import type { AgentClient } from '../../ports/upstream.ts';
import { commit, keepForLater, nobodyWaits } from '../upkeep/commit.ts';
import type { Shell } from '../shell.ts';
import { bare, note, numbered } from '../ending/transition.ts';

const maxQuestionChars = 500;

export function recordedClient(client: AgentClient, call: Call, shell: Shell): AgentClient {
  return {
    elicit: (message, schema, signal) =>
      recorded(
        'elicit',
        message,
        () => client.elicit(message, schema, signal),
        ({ action }) => action,
      ),
    sample: (request, signal) =>
      recorded(
        'sample',
        preview(request, maxQuestionChars),
        () => client.sample(request, signal),
        () => 'answered',
      ),
  };

  async function recorded<Answer>(
    asked: 'elicit' | 'sample',
    question: string,
    ask: () => Promise<Answer>,
    answerOf: (answer: Answer) => string,
  ): Promise<Answer> {
    try {
      const answer = await ask();
      await write({ asked, answer: answerOf(answer) }, question);
      return answer;
    } catch (error) {
      const reason = error instanceof Error ? safeText(error.message, maxQuestionChars) : 'it failed';
      await write({ asked, answer: 'none', reason }, question);
      throw error;
    }
  }

  async function write(body: Readonly<Record<string, string>>, question: string): Promise<void> {
    const payload = { part: 'question', text: canonicalText({ text: safeText(question, maxQuestionChars) }) };
    const records = [note('client_asked', call, body, [payload])];
    const transition = { ...bare(shell), session: numbered(call), records };
    const result = await commit(transition, shell);
    nobodyWaits(result, shell);
    if (result.kind === 'unavailable') keepForLater(transition, shell);
  }
}
