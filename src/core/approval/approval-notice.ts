/** What does an agent hear when a person approved its call in a changed form? Which arguments were sent, and that its plan may be off. */
import type { Approval } from './approval.ts';
import { isObject, type Json } from '../values/json.ts';
import { quoteName } from '../values/quote.ts';
import type { Notice } from '../call/reply.ts';

const maxNamed = 8;

/** `asked` is what the agent sent, `sent` what was approved in its place. */
export function editNotice({ id, edit }: Approval, asked: Json, sent: Json): Notice {
  const fields = changedFields(asked, sent);
  const what = fields.length === 0 ? 'its arguments' : fields.slice(0, maxNamed).map(quoteName).join(', ');
  const by = edit?.by ?? 'an approver';
  return {
    code: 'APPROVAL_EDITED',
    human_message: `approved with changes by ${by}: ${what} (approval ${id})`,
    resolution: { type: 'replan', reason: `${by} changed ${what} before the call ran` },
  };
}

function changedFields(asked: Json, sent: Json): readonly string[] {
  if (!isObject(asked) || !isObject(sent)) return [];
  const [before, after] = [asked as Readonly<Record<string, Json>>, sent as Readonly<Record<string, Json>>];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
