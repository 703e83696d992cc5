/** Routes for people who look at the graph of a workflow session: the drawing with its path, and one of its states. */
import { type Answer, type Asked, json, jsonOrReply, refuseInput } from '../answer.ts';
import { principalFor } from '../session-routes.ts';

export async function readSessionGraph(asked: Asked): Promise<Answer> {
  return jsonOrReply(await asked.parts.looks.graph(asked.id, await principalFor(asked)));
}

export async function readSessionState(asked: Asked): Promise<Answer> {
  const { id, query, parts } = asked;
  const seq = query['seq'] === undefined ? null : Number(query['seq']);
  const found = await parts.looks.stateAt(id, seq, await principalFor(asked));
  if ('error' in found) return jsonOrReply(found);
  if (found.kind === 'state') return json(found.state);
  const expected =
    found.first === null ? 'no step of this session is kept' : `a step that is kept: ${found.first} to ${found.last}`;
  return refuseInput('readSessionState', [{ path: '/seq', expected, got: seq }], parts);
}
