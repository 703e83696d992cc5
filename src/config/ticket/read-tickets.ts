/** Reads how long tickets of each queue may take, and who answers them. What is not said is the default. */
import { joinTerms, type TicketRules, type TicketTerms } from '../../core/ticket/terms.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { durationMs } from '../duration.ts';
import type { Place, Tell } from '../problem.ts';
import { placeOf } from '../shape/read-shape.ts';
import { itemsOf, mapOf, textOf } from '../yaml/plain-values.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

interface Parts {
  readonly tree: Tree;
  readonly tell: Tell;
}

export function readTickets(written: JsonObject, parts: Parts): TicketRules {
  const queues = Object.entries(mapOf(written['queues'])).map(([name, said]) => [name, termsIn(mapOf(said))] as const);
  const rules = joinTerms(termsIn(written), Object.fromEntries(queues));
  checkTimes(rules.all, () => placeOf(parts.tree, ['tickets']), parts);
  for (const [name] of queues) {
    const terms = rules.queues[name];
    if (terms !== undefined) checkTimes(terms, () => placeOf(parts.tree, ['tickets', 'queues', name]), parts);
  }
  return rules;
}

function termsIn(said: JsonObject): Partial<TicketTerms> {
  return {
    ...(said['due'] === undefined ? {} : { dueMs: timeOf(said['due']) }),
    ...(said['expires'] === undefined ? {} : { expiresMs: timeOf(said['expires']) }),
    ...(said['who'] === undefined ? {} : { who: itemsOf(said['who']) }),
    ...(said['client'] === undefined ? {} : { client: said['client'] === true }),
  };
}

/** Null for never. */
const timeOf = (written: Json): number | null => durationMs(textOf(written) ?? '');

/** Whoever is told that a ticket is overdue must be able to answer it. */
function checkTimes({ dueMs, expiresMs }: TicketTerms, place: () => Place, { tell }: Parts): void {
  if (dueMs !== null && expiresMs !== null && expiresMs <= dueMs)
    tell(place(), 'a ticket would end before it is overdue', 'make expires longer than due');
}
