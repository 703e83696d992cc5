/**
 * Puts on record what a body asks its agent's user or model: the question, the answer, who was asked, and how long it
 * took. Question and answer are payloads: masked, and erasable with the call.
 */
import type { Call } from '../../core/call/call.ts';
import type { Payload } from '../../core/journal/record.ts';
import { canonicalise, canonicalText, preview } from '../../core/values/canonical.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import type { AgentClient } from '../../ports/upstream.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import { maskInputs } from '../mask.ts';
import type { Shell } from '../shell.ts';
import { commit, keepForLater, markAnswered } from '../upkeep/commit.ts';

const maxQuestionChars = 500;
const maxAnswerChars = 4_000;

export function recordedClient(client: AgentClient, call: Call, shell: Shell): AgentClient {
  return {
    elicit: (message, schema, signal) =>
      recorded(
        { asked: 'elicit', who: `the user of ${call.agent}`, question: message },
        () => client.elicit(message, schema, signal),
        ({ action, content }) => ({ outcome: action, said: content ?? null }),
      ),
    sample: (request, signal) =>
      recorded(
        { asked: 'sample', who: `the model of ${call.agent}`, question: preview(request, maxQuestionChars) },
        () => client.sample(request, signal),
        (said) => ({ outcome: 'answered', said }),
      ),
  };

  async function recorded<Answer>(
    { asked, who, question }: { readonly asked: 'elicit' | 'sample'; readonly who: string; readonly question: string },
    ask: () => Promise<Answer>,
    told: (answer: Answer) => { readonly outcome: string; readonly said: unknown },
  ): Promise<Answer> {
    const { clock } = shell.ports;
    const since = clock.monotonicMs();
    const elapsed = () => Math.round(clock.monotonicMs() - since);
    try {
      const answer = await ask();
      const { outcome, said } = told(answer);
      await write({ asked, who, outcome, elapsed_ms: elapsed() }, question, said);
      return answer;
    } catch (error) {
      const reason = error instanceof Error ? safeText(error.message, maxQuestionChars) : 'it failed';
      await write({ asked, who, outcome: 'none', reason, elapsed_ms: elapsed() }, question, null);
      throw error;
    }
  }

  async function write(body: JsonObject, question: string, said: unknown): Promise<void> {
    const payloads: Payload[] = [
      { part: 'question', text: canonicalText({ text: safeText(question, maxQuestionChars) }) },
      ...(said === null ? [] : [{ part: 'answer', text: answerText(said, call.agent, shell) }]),
    ];
    const transition = {
      ...bare(shell),
      session: numbered(call),
      records: [note('interaction', call, body, payloads)],
    };
    const result = await commit(transition, shell);
    markAnswered(result, shell);
    if (result.kind === 'unavailable') keepForLater(transition, shell);
  }
}

/** What policy hides in arguments it hides in answers, too; secrets never reach the record. */
function answerText(said: unknown, agent: string, shell: Shell): string {
  const written = canonicalise(said, { maxDepth: shell.limits.maxDepth });
  const shown = written.ok ? canonicalText(maskInputs(JSON.parse(written.text) as Json, agent, shell)) : preview(said);
  return canonicalText({ text: safeText(shown, maxAnswerChars) });
}
