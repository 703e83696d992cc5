/** JSON Schemas of the HTTP bodies about the graph of a session, by component name. Part of http-bodies.ts. */
import {
  anything,
  closedObject,
  listOf,
  oneOfNames,
  type Ref,
  type Schema,
  text,
  textOrNull,
  texts,
  wholeNumber,
} from '../reply-schema-fields.ts';

const time: Schema = { type: 'string', format: 'date-time' };
const truth: Schema = { type: 'boolean' };
const number: Schema = { type: 'number' };
const textsOrNull: Schema = { anyOf: [texts, { type: 'null' }] };

const drawnState = closedObject({
  id: text,
  title: text,
  lines: texts,
  type: oneOfNames(['atomic', 'compound', 'parallel', 'final', 'history']),
  depth: wholeNumber,
  frame: truth,
  description: textOrNull,
  x: number,
  y: number,
  width: number,
  height: number,
});

const drawnArrow = closedObject({
  from: text,
  to: text,
  title: text,
  paths: texts,
  heads: texts,
  labels: listOf(closedObject({ x: number, y: number, lines: texts })),
});

const drawing = closedObject({
  name: text,
  width: number,
  height: number,
  states: listOf(drawnState),
  arrows: listOf(drawnArrow),
  starts: closedObject({ dots: listOf(closedObject({ x: number, y: number })), paths: texts, heads: texts }),
});

const pathEntry = closedObject({
  entry: wholeNumber,
  kind: text,
  at: time,
  action: textOrNull,
  call_id: textOrNull,
  outcome: textOrNull,
  code: textOrNull,
  reason: textOrNull,
  seq: wholeNumber,
  refused: truth,
  times: wholeNumber,
  active: textsOrNull,
});

export function sessionLookBodies(ref: Ref, statuses: readonly string[]) {
  return {
    WorkflowDrawing: drawing,
    SessionGraph: closedObject({
      session: text,
      agent: text,
      workflow: text,
      version: text,
      seq: wholeNumber,
      status: oneOfNames(statuses),
      reason: textOrNull,
      active: texts,
      drift: texts,
      drawing: ref('WorkflowDrawing'),
      path: listOf(pathEntry),
      complete: truth,
      visited: listOf(closedObject({ state: text, times: wholeNumber })),
      taken: listOf(closedObject({ from: text, to: textOrNull, action: textOrNull, times: wholeNumber })),
      refused: listOf(closedObject({ from: text, to: textOrNull, action: text, code: text, times: wholeNumber })),
    }),
    SessionState: closedObject({
      session: text,
      seq: wholeNumber,
      active: texts,
      state: anything,
      done: truth,
      timers: listOf(closedObject({ id: text, due_at: time })),
    }),
  };
}
