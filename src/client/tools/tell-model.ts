/** What a model should read about a refusal: enough to choose its next move, and nothing else. For `onRefusal`. */
import type { Refusal } from '../refusal-of.ts';

export function tellModel(refusal: Refusal): string {
  const { message, code, effect, resolution, validNextActions } = refusal;
  const error = refusal.name === 'ToolDeniedError' ? 'denied' : refusal.error;
  return JSON.stringify({ error, code, message, effect, resolution, valid_next_actions: validNextActions });
}
