/** No name of a state, action, guard or delay can break a drawing or say something in its language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { buildMachine, randomShape } from '../../../../test/support/random-machine.ts';
import type { WorkflowGraph } from '../graph.ts';
import { toDot } from './to-dot.ts';
import { toMermaid } from './to-mermaid.ts';

/** A graph of the same shape whose every name is a given text. */
function renamed(graph: WorkflowGraph, text: string): WorkflowGraph {
  return {
    ...graph,
    name: text,
    states: graph.states.map((each) => ({ ...each, name: text, description: text })),
    edges: graph.edges.map((edge) => ({
      ...edge,
      action: edge.action === null ? null : text,
      guard: edge.guard === null ? null : text,
      delay: edge.delay === null ? null : text,
    })),
  };
}

const nasty = [
  '"',
  '\\',
  '\n',
  '\r\n',
  ';',
  '#',
  '%%',
  '{',
  '}',
  '-->',
  '--',
  ':',
  '[*]',
  '<b>',
  '&amp;',
  '`',
  'direction TB',
  'end note',
  'state "x" as y {',
  '\u2028',
  '\u0000',
  '\ud800',
  '🙂',
  '\\N',
  '" ]; x -> y [',
  '',
  ' ',
  'style a fill:#fff;',
  '<<fork>>',
];
const hostile = fc.oneof(
  fc.constantFrom(...nasty),
  fc.array(fc.constantFrom(...nasty, 'a')).map((parts) => parts.join('')),
);

const label = String.raw`(?:[\p{L}\p{M}\p{N} _.,()\[\]/+=?!*-]|#\d+;)*`;
const mermaidLine = new RegExp(
  String.raw`^ *(?:stateDiagram-v2|--|\}|\[\*\] --> s\d+|s\d+ --> \[\*\]|state "${label}" as s\d+(?:_any|_again)?(?: \{)?|s\d+(?:_any)? --> s\d+(?:_any|_again)?(?: : ${label})?)$`,
  'u',
);
const quoted = String.raw`"(?:[^"\\\n]|\\["\\n])*"`;
const value = String.raw`(?:${quoted}|[\w.]+)`;
const attributes = String.raw`\w+=${value}(?:[;,] \w+=${value})*;?`;
const dotLine = new RegExp(
  String.raw`^ *(?:digraph workflow \{|subgraph cluster_s\d+ \{|\}|${attributes}|(?:node|edge|s\d+(?:_at|_start)?) \[${attributes}\];|s\d+(?:_at|_start)? -> s\d+(?:_at)?(?: \[${attributes}\])?;)$`,
  'u',
);

test('no name can say anything in the language of a drawing', () => {
  fc.assert(
    fc.property(randomShape(true), hostile, (shape, text) => {
      const graph = renamed(buildMachine(shape).graph, text);
      const mermaid = toMermaid(graph).trimEnd().split('\n');
      for (const line of mermaid) {
        assert.match(line, mermaidLine);
        assert.doesNotMatch(line, /direction/i);
      }
      for (const line of toDot(graph).trimEnd().split('\n')) assert.match(line, dotLine);
      // As many lines as with harmless names: nothing was swallowed, nothing came to be.
      assert.equal(mermaid.length, toMermaid(renamed(graph, 'a')).trimEnd().split('\n').length);
      assert.equal(toDot(graph).split('\n').length, toDot(renamed(graph, 'a')).split('\n').length);
    }),
    { numRuns: 300 },
  );
});
