/** What an analysis says beside its findings: sentences, limits, and what it makes of odd graphs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, coffee, form, graphOf, incident, on, state } from '../../../../test/support/sample-graphs.ts';
import { analyseWorkflow } from './analyse-workflow.ts';

test('workflows in good order have no findings, and say what was taken for granted', () => {
  for (const graph of [coffee, incident, form]) {
    const { findings, undecided, searched } = analyseWorkflow(graph);
    assert.deepEqual(findings, []);
    assert.equal(searched.complete, true);
    assert.equal(undecided.length, 1);
    assert.match(undecided[0] ?? '', /guards were taken to be free to say yes or no/);
  }
});

test('a workflow without guards leaves nothing undecided', () => {
  const graph = graphOf('plain', 'a', [state('a'), state('b', 'final')], [on('a', 'go', 'b')]);
  assert.deepEqual(analyseWorkflow(graph), {
    findings: [],
    undecided: [],
    searched: { configurations: 2, edges: 1, complete: true },
  });
});

test('messages name the thing and say what to do', () => {
  const graph = graphOf(
    'x',
    'a',
    [state('a'), state('b')],
    [on('a', 'go', 'b', 'g'), on('b', 'x', 'a'), on('b', 'x', null)],
  );
  const { findings, undecided } = analyseWorkflow(graph);
  assert.deepEqual(
    findings.map(({ message }) => message),
    [
      'x in b, which stays, can never be taken: one before it has no guard; put it earlier or remove it.',
      "a has no way on if 'g' says no; add an edge without a guard, or make sure that one of them holds.",
    ],
  );
  assert.deepEqual(undecided, [
    "guards were taken to be free to say yes or no, with any context: 'g'.",
    "possible_dead_end at 'a' depends on guards, timers or raised events.",
  ]);
});

test('why an edge is dead is told by those before it alone', () => {
  const edges = [on('a', 'go', 'b', 'g'), on('a', 'go', 'b', 'g'), on('a', 'go', 'b', 'false'), on('a', 'go', 'b')];
  const { findings, undecided } = analyseWorkflow(graphOf('x', 'a', [state('a'), state('b', 'final')], edges));
  assert.deepEqual(
    findings.map(({ message }) => message.split(': ')[1]),
    [
      'the guards before it leave nothing for it (g); put it earlier or remove it.',
      'its guard never says yes; give it another or remove it.',
    ],
  );
  assert.deepEqual(undecided, ["guards were taken to be free to say yes or no, with any context: 'g'."]);
});

test('guards of which only the name is known are never taken to exclude each other', () => {
  const edges = [on('a', 'go', 'b', 'g'), on('a', 'go', null, 'g'), on('a', 'go', null, 'not(g)')];
  const unnamed = edges.map(({ asks: _asks, ...edge }) => edge);
  const graph = graphOf('x', 'a', [state('a'), state('b', 'final')], unnamed);
  assert.deepEqual(
    analyseWorkflow(graph).findings.map(({ code }) => code),
    ['possible_dead_end'],
  );
});

test('which of several timers is first is not known, and that is said', () => {
  const told = (...edges: Parameters<typeof graphOf>[3]) =>
    analyseWorkflow(graphOf('x', 'a', [state('a'), state('b', 'final'), state('c', 'final')], edges)).undecided;
  assert.deepEqual(told(on('a', 'go', 'c'), after('a', 1_000, 'b')), []);
  const several = ['where several timers run at once, any was taken to be first.'];
  assert.deepEqual(told(after('a', 1_000, 'b'), after('a', 5_000, 'c')), several);
});

test('with events that the machine raises itself, nothing that happens is certain', () => {
  const graph = {
    ...graphOf('x', 'a', [state('a'), state('b'), state('c', 'final')], [on('a', 'go', 'b'), on('b', 'wake', 'c')]),
    raises: ['wake'],
  };
  const { findings, undecided } = analyseWorkflow(graph);
  assert.deepEqual(
    findings.map(({ code, where, proven }) => [code, where, proven]),
    [['possible_dead_end', 'b', false]],
  );
  assert.ok(undecided.some((sentence) => sentence.includes('raises may come at any time: wake')));
});

test('circles of events that the machine raises itself are told where it raises what it listens to', () => {
  const told = (...[states, edges]: [Parameters<typeof graphOf>[2], Parameters<typeof graphOf>[3]]) =>
    analyseWorkflow({ ...graphOf('x', 'a', states, edges), raises: ['ping'] }).findings.map(
      ({ code, severity, where, proven }) => [code, severity, where, proven],
    );
  const states = [state('a'), state('b', 'atomic', { raises: ['ping'] })];
  const around = [on('a', 'go', 'b'), on('b', 'go', 'a')];
  const again = { ...on('b', 'ping', 'b'), reenter: true };
  assert.deepEqual(told(states, [...around, again]), [['restless', 'warning', 'b', false]]);
  const guarded = { ...on('a', 'ping', null, 'g'), raises: ['ping'] };
  assert.deepEqual(told([state('a')], [guarded, on('a', 'go', null)]), [['restless', 'info', 'a', false]]);
  // Heard, and not raised again.
  assert.deepEqual(told(states, [...around, on('b', 'ping', null)]), []);
});

test('a forbidden event is no way on, and keeps the states around from hearing it', () => {
  const forbids = { ...on('a.b', 'go', null), forbids: true };
  const states = [state('a', 'compound', { initial: 'b' }), state('a.b'), state('end', 'final')];
  const graph = graphOf('x', 'a', states, [forbids, on('a', 'go', 'end')]);
  assert.deepEqual(
    analyseWorkflow(graph).findings.map(({ code, where }) => [code, where]),
    [
      ['unreachable_action', 'go'],
      ['unreachable_final', 'end'],
      ['dead_end', 'a.b'],
    ],
  );
});

test('a graph that makes no sense is answered, and what was left out is named', () => {
  const odd = graphOf(
    'x',
    'gone',
    [state('a'), state('a'), state('b.c')],
    [on('a', 'go', 'nowhere'), on('z', 'go', 'a')],
  );
  const { undecided, searched } = analyseWorkflow(odd);
  assert.equal(searched.complete, true);
  assert.equal(undecided.filter((sentence) => sentence.includes('left out')).length, 4);
});

test('a workflow that begins in a memory of itself is answered, with nothing proven that was not seen', () => {
  const states = [state('a', 'compound', { initial: 'h' }), state('a.h', 'history'), state('a.b')];
  const { undecided, searched } = analyseWorkflow(graphOf('x', 'a', states, []));
  assert.equal(searched.complete, false);
  assert.ok(undecided.some((sentence) => sentence.includes('does not begin')));
});

test('a machine of 200 states is looked at in less than a second', () => {
  const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
  const states = names.map((name, index) => state(name, index === 199 ? 'final' : 'atomic'));
  const edges = names
    .slice(0, -1)
    .flatMap((name, index) => [
      on(name, 'go', `n${index + 1}`),
      on(name, 'back', `n${Math.max(0, index - 3)}`, 'may_go_back'),
      after(name, 1_000, 'n0'),
    ]);
  const graph = graphOf('long', 'n0', states, edges);
  // Time of the processor: how busy the machine is with others does not count.
  const begun = process.cpuUsage();
  const { findings, searched } = analyseWorkflow(graph);
  assert.ok(process.cpuUsage(begun).user < 1_000_000);
  assert.deepEqual([findings, searched], [[], { configurations: 200, edges: 597, complete: true }]);
});

test('ten regions of five states are more than the limit: the search stops and says so', () => {
  const regions = Array.from({ length: 10 }, (_, region) => `r${region}`);
  const steps = [0, 1, 2, 3, 4];
  const states = regions.flatMap((region) => [
    state(region, 'compound', { initial: 'q0' }),
    ...steps.map((step) => state(`${region}.q${step}`)),
  ]);
  const edges = regions.flatMap((region) =>
    steps.map((step) => on(`${region}.q${step}`, `turn_${region}`, `${region}.q${(step + 1) % 5}`)),
  );
  const lost = [state('r0.lost'), state('r0.lost2')];
  const graph = graphOf('big', null, [...states, ...lost], [...edges, on('r0.lost', 'find', 'r0.lost2')]);
  const { findings, undecided, searched } = analyseWorkflow(graph);
  assert.equal(searched.complete, false);
  assert.equal(searched.configurations, 10_000);
  assert.ok(undecided.includes('the search stopped at 10000 configurations.'));
  // Even so, what no edge at all leads to is proven.
  assert.deepEqual(
    findings.map(({ code, where, proven }) => [code, where, proven]),
    [
      ['unreachable_action', 'find', true],
      ['unreachable_state', 'r0.lost', true],
      ['unreachable_state', 'r0.lost2', true],
    ],
  );
});

test('the limits are the caller’s to set', () => {
  const few = analyseWorkflow(incident, { maxConfigurations: 3 });
  assert.equal(few.searched.configurations, 3);
  assert.ok(few.undecided.some((sentence) => sentence.includes('stopped at 3 configurations')));
  assert.deepEqual(
    few.findings.filter(({ proven }) => proven),
    [],
  );
  assert.ok(analyseWorkflow(incident, { maxEdges: 2 }).undecided.some((sentence) => sentence.includes('2 edges')));
  const states = Array.from({ length: 9 }, (_, index) => state(`n${index}`));
  const many = analyseWorkflow(graphOf('x', 'n0', states, []), { maxFindings: 2 });
  assert.equal(many.findings.filter(({ code }) => code === 'unreachable_state').length, 2);
  assert.ok(many.undecided.includes('6 more of unreachable_state are not listed.'));
});
