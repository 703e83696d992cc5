/**
 * What does a client learn of our replies before it calls? One schema that is true of every reply and small enough to
 * stand beside each tool: the full one (core/http/reply-schema.ts) is some thirty times as long, and no host shows it to a model.
 */
import type { JsonObject } from '../../core/values/json.ts';
import { errorNames } from '../../core/http/reply-schema.ts';
import { effects } from '../../core/taxonomy.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };

export const replyOutputSchema: JsonObject = {
  type: 'object',
  properties: {
    action: text,
    result: {},
    state: {},
    seq: { type: 'integer' },
    error: { enum: errorNames },
    requested: { type: ['string', 'null'] },
    code: text,
    message: text,
    effect: { enum: Object.keys(effects) },
    resolution: { type: 'object', properties: { type: text }, required: ['type'] },
    pending: { const: true },
    valid_next_actions: texts,
    call_id: text,
    session: { type: ['string', 'null'] },
  },
  required: ['call_id', 'session'],
};
