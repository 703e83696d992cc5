/** The drawings that are texts: Mermaid, Graphviz and JSON. Small machines are compared word by word. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { always, coffee, form, graphOf, incident, on, state } from '../../../../test/support/sample-graphs.ts';
import { durationText } from './edge-text.ts';
import { toDot } from './to-dot.ts';
import { toJsonGraph } from './to-json-graph.ts';
import { toMermaid } from './to-mermaid.ts';

test('a coffee order as a Mermaid diagram', () => {
  assert.equal(
    toMermaid(coffee, ['paid.steaming']),
    `stateDiagram-v2
  [*] --> s1
  state "idle" as s1
  state "ordering" as s2
  state "paid" as s3 {
    [*] --> s4
    state "grinding" as s4
    state "steaming" as s5
    state "ready" as s6
    s4 --> s5 : steam [wants_milk]
    s4 --> s6 : skip_milk
    s5 --> s6 : pour
    s6 --> [*]
  }
  state "served" as s7
  state "cancelled" as s8
  s1 --> s2 : take_order
  s2 --> s3 : pay [has_items]
  s2 --> s8 : cancel
  s2 --> s8 : after 10 min
  s3 --> s7 : done
  s2 --> s2 : add_modifier (stays)
  s7 --> [*]
  s8 --> [*]
  classDef active stroke-width:4px,font-weight:bold
  class s5 active
`,
  );
});

test('an incident as a Mermaid diagram has its regions apart', () => {
  assert.equal(
    toMermaid(incident),
    `stateDiagram-v2
  [*] --> s1
  state "open" as s1 {
    state "technical" as s2 {
      [*] --> s3
      state "triage" as s3
      state "mitigating" as s4
      state "fixed" as s5
      s3 --> s4 : mitigate
      s4 --> s5 : verify [context.errors == 0]
      s4 --> s3 : verify
      s5 --> [*]
    }
    --
    state "communication" as s6 {
      [*] --> s7
      state "silent" as s7
      state "informed" as s8
      state "closed" as s9
      s7 --> s8 : inform
      s8 --> s8 : update
      s8 --> s9 : close
      s9 --> [*]
    }
  }
  state "escalated" as s10
  state "resolved" as s11
  s7 --> s10 : after 30 min
  s1 --> s10 : escalate
  s1 --> s11 : done
  s10 --> s4 : hand_back
  s10 --> s8 : hand_back
  s11 --> [*]
`,
  );
});

test('a workflow of regions alone is a state of its own in Mermaid, which parts no regions at the top', () => {
  const states = [state('doors', 'compound', { initial: 'shut' }), state('doors.shut'), state('lights')];
  assert.equal(
    toMermaid(graphOf('house', null, states, [on('', 'rest', null)]), ['lights']),
    `stateDiagram-v2
  state "house" as s0 {
    state "doors" as s1 {
      [*] --> s2
      state "shut" as s2
    }
    --
    state "lights" as s3
    state "in any state" as s0_any
    s0_any --> s0_any : rest (stays)
  }
  classDef active stroke-width:4px,font-weight:bold
  class s3 active
`,
  );
});

test('a form that remembers, as a Mermaid diagram', () => {
  assert.equal(
    toMermaid(form),
    `stateDiagram-v2
  [*] --> s1
  state "filling" as s1 {
    [*] --> s2
    state "name" as s2
    state "address" as s3
    state "review" as s4
    state "H" as s5
    s2 --> s3 : next
    s3 --> s4 : next [address_valid]
    s3 --> s2 : back
    s4 --> s3 : back
  }
  state "help" as s6
  state "sent" as s7
  s4 --> s7 : submit
  s1 --> s6 : ask_help
  s6 --> s5 : resume
  s6 --> s5 : after patience
  s7 --> [*]
`,
  );
});

test('edges between a composite and what is inside it go by way of states of ours', () => {
  const states = [state('a', 'compound', { initial: 'b' }), state('a.b')];
  const graph = graphOf('x', 'a', states, [
    on('', 'reset', 'a'),
    on('a', 'in', 'a.b'),
    on('a.b', 'out', 'a'),
    on('a', 'x', null),
  ]);
  assert.equal(
    toMermaid(graph),
    `stateDiagram-v2
  [*] --> s1
  state "a" as s1 {
    [*] --> s2
    state "b" as s2
    state "in any state" as s1_any
    state "to a" as s1_again
    s1_any --> s2 : in
    s2 --> s1_again : out
    s1_any --> s1_any : x (stays)
  }
  state "in any state" as s0_any
  s0_any --> s1 : reset
`,
  );
});

test('a form that remembers, as a Graphviz graph', () => {
  assert.equal(
    toDot(form, ['filling.review']),
    String.raw`digraph workflow {
  compound=true; rankdir=TB; fontname="Helvetica"; labeljust=l;
  node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=11];
  subgraph cluster_s0 {
    label="form"; style="rounded";
    s0_at [shape=point, style=invis, width=0];
    s0_start [shape=circle, label="", width=0.15, fillcolor="black"];
    subgraph cluster_s1 {
      label="filling"; style="rounded"; color="#b45309"; penwidth=2.5;
      s1_at [shape=point, style=invis, width=0];
      s1_start [shape=circle, label="", width=0.15, fillcolor="black"];
      s2 [label="name"];
      s3 [label="address"];
      s4 [label="review", color="#b45309", penwidth=2.5];
      s5 [label="H", shape=circle];
    }
    s1_start -> s2;
    s6 [label="help"];
    s7 [label="sent", peripheries=2];
  }
  s0_start -> s1_at [lhead=cluster_s1];
  s2 -> s3 [label="next"];
  s3 -> s4 [label="next [address_valid]"];
  s3 -> s2 [label="back"];
  s4 -> s3 [label="back"];
  s4 -> s7 [label="submit"];
  s1_at -> s6 [label="ask_help", ltail=cluster_s1];
  s6 -> s5 [label="resume"];
  s6 -> s5 [label="after patience"];
}
`,
  );
});

test('a graph as JSON says everything, and which states are active with those around them', () => {
  const json = toJsonGraph(form, ['filling.review']);
  assert.deepEqual(json['active'], ['filling', 'filling.review']);
  assert.deepEqual((json['states'] as object[])[4], {
    id: 'filling.last',
    name: 'last',
    parent: 'filling',
    type: 'history',
    initial: null,
    description: null,
    history: 'shallow',
    active: false,
  });
  assert.deepEqual((json['edges'] as object[])[7], {
    from: 'help',
    to: ['filling.last'],
    kind: 'after',
    action: null,
    guard: null,
    delay: 'patience',
    label: 'after patience',
  });
  assert.deepEqual(JSON.parse(JSON.stringify(json)), json);
});

test('delays are written in the largest unit that fits', () => {
  const written = [0, 1, 999, 1_000, 1_500, 30_000, 90_000, 61_000, 5_400_000, 86_400_000, 'patience'].map(
    durationText,
  );
  assert.deepEqual(written, [
    '0 ms',
    '1 ms',
    '999 ms',
    '1 s',
    '1.5 s',
    '30 s',
    '1.5 min',
    '61 s',
    '1.5 h',
    '1 d',
    'patience',
  ]);
});

test('a forbidden event is not drawn, and an edge without an event says so', () => {
  const graph = graphOf(
    'x',
    'a',
    [state('a'), state('b')],
    [{ ...on('a', 'no', null), forbids: true }, always('a', 'b')],
  );
  assert.doesNotMatch(toMermaid(graph) + toDot(graph) + JSON.stringify(toJsonGraph(graph)), /"no"|no \(stays\)|↻ no/);
  assert.match(toMermaid(graph), /s1 --> s2 : always/);
});
