/** The drawing as a picture: well-formed, the same every time, and nothing drawn over anything else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { after, coffee, form, graphOf, incident, on, state } from '../../../../test/support/sample-graphs.ts';
import { buildMachine, randomShape } from '../../../../test/support/random-machine.ts';
import type { WorkflowGraph } from '../graph.ts';
import { planDrawing } from './draw-plan.ts';
import { layOut } from './layout/lay-out.ts';
import { settleRow } from './layout/place-items.ts';
import type { Shape, Stroke } from './layout/shapes.ts';
import { labelSize, lineHeight, textWidth } from './layout/text-size.ts';
import { toSvg } from './to-svg.ts';

/** The names of the elements, if the text is well-formed; throws if it is not. Enough of XML for what we write. */
function elementsOf(svg: string): readonly string[] {
  const open: string[] = [];
  const found: string[] = [];
  const token = /<(\/?)([a-z]+)((?:\s+[a-zA-Z:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
  let end = 0;
  for (let match = token.exec(svg); match !== null; match = token.exec(svg)) {
    end = token.lastIndex;
    const [, closing, name = '', , empty, text] = match;
    if (text !== undefined) assert.doesNotMatch(text.replaceAll('\n', ''), /&(?!(?:amp|lt|gt|quot|#39);)|\p{Cc}/u);
    else if (closing === '/') assert.equal(open.pop(), name);
    else {
      found.push(name);
      if (empty !== '/') open.push(name);
    }
  }
  assert.equal(end, svg.length, `cannot read ${svg.slice(end, end + 60)}`);
  assert.deepEqual(open, []);
  return found;
}

interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const overlap = (a: Area, b: Area) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
const isWithin = (a: Area, b: Area) =>
  a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;

function areaOf(shape: Extract<Shape, { kind: 'label' }>): Area {
  const width = Math.max(...shape.lines.map((line) => textWidth(line, labelSize)));
  return { x: shape.x, y: shape.y - 10, width, height: shape.lines.length * lineHeight - 3 };
}

function pointsOf(strokes: readonly Stroke[]): readonly (readonly [number, number])[] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const stroke of strokes) {
    const [ax, ay, bx, by, toX, toY] =
      stroke[0] === 'C' ? stroke.slice(1).map(Number) : [x, y, stroke[1], stroke[2], stroke[1], stroke[2]];
    for (let part = stroke[0] === 'M' ? 20 : 1; part <= 20; part++) {
      const t = part / 20;
      const at = (from = 0, a = 0, b = 0, to = 0) =>
        (1 - t) ** 3 * from + 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t ** 2 * b + t ** 3 * to;
      points.push([at(x, ax, bx, toX), at(y, ay, by, toY)]);
    }
    [x, y] = [toX ?? 0, toY ?? 0];
  }
  return points;
}

function checkPicture(graph: WorkflowGraph): void {
  const plan = planDrawing(graph);
  const { shapes, width, height } = layOut(plan);
  const boxes = shapes.filter((shape) => shape.kind === 'box');
  const leaves = boxes.filter(({ state: index }) => index > 0 && plan.states[index]?.children.length === 0);
  const labels = shapes.filter((shape) => shape.kind === 'label').map(areaOf);
  assert.equal(boxes.length, plan.states.length, 'every state has its box');
  const page = { x: 0, y: 0, width, height };
  for (const box of boxes) {
    assert.ok(isWithin(box, page), `${box.state} is on the page`);
    const parent = plan.states[box.state]?.parent ?? -1;
    const around = boxes.find(({ state: index }) => index === parent);
    assert.ok(around === undefined || isWithin(box, around), `${box.state} is inside ${parent}`);
    for (const other of boxes) {
      if (other === box || plan.states[other.state]?.parent !== parent) continue;
      assert.ok(!overlap(box, other), `${box.state} and ${other.state} overlap`);
    }
  }
  for (const [at, label] of labels.entries()) {
    assert.ok(isWithin(label, page), 'a label is on the page');
    for (const box of leaves) assert.ok(!overlap(label, box), `a label is on ${box.state}`);
    for (const other of labels.slice(at + 1)) assert.ok(!overlap(label, other), 'two labels overlap');
  }
  for (const shape of shapes) {
    if (shape.kind !== 'line') continue;
    for (const [x, y] of pointsOf(shape.strokes)) {
      const point = { x: x - 0.1, y: y - 0.1, width: 0.2, height: 0.2 };
      for (const box of leaves) {
        const core = { x: box.x + 1, y: box.y + 1, width: box.width - 2, height: box.height - 2 };
        assert.ok(!overlap(point, core), `a line runs through ${plan.states[box.state]?.id ?? ''}`);
      }
      for (const label of labels) assert.ok(!overlap(point, label), 'a line runs through a label');
    }
  }
}

test('in the small machines nothing is drawn over anything', () => {
  for (const graph of [coffee, incident, form]) checkPicture(graph);
});

test('nor in any other machine', () => {
  fc.assert(
    fc.property(randomShape(true), (shape) => checkPicture(buildMachine(shape).graph)),
    { numRuns: 100 },
  );
});

test('the same graph gives the same bytes, and what is active shows', () => {
  const svg = toSvg(incident, ['open.technical.triage']);
  assert.equal(svg, toSvg(structuredClone(incident), ['open.technical.triage']));
  assert.equal(svg.match(/class="[^"]* active"/g)?.length, 3, 'the state and the two around it');
  assert.equal(toSvg(incident).match(/class="[^"]* active"/g), null);
  assert.match(svg, /prefers-color-scheme:dark/);
  assert.equal(svg.match(/class="frame[^"]* region/g)?.length, 2);
  assert.equal(svg.match(/class="start"/g)?.length, 3);
  assert.equal(svg.match(/class="ring"/g)?.length, 3);
  for (const text of ['mitigating', 'verify [context.errors == 0]', 'after 30 min'])
    assert.ok(svg.includes(`>${text}<`));
});

test('no name can break the picture or bring anything into it', () => {
  const nasty = [
    '<script>',
    '"><x',
    '&amp;',
    ']]>',
    '\u0000',
    '\ud800',
    '🙂',
    "'",
    '\n',
    'a'.repeat(5_000),
    '漢'.repeat(90),
    '',
  ];
  for (const text of nasty) {
    const states = [
      state('a', 'compound', { initial: 'b', name: text, description: text }),
      state('a.b', 'atomic', { name: text }),
    ];
    const graph = graphOf(text, 'a', states, [
      on('a', text, 'a.b', text),
      on('a.b', text, null, text),
      on('a.b', text, 'a.b'),
    ]);
    const elements = new Set(elementsOf(toSvg(graph)));
    assert.deepEqual([...elements].sort(), ['circle', 'g', 'path', 'rect', 'style', 'svg', 'text', 'title', 'tspan']);
    checkPicture(graph);
  }
});

test('a picture of 200 states with long arrows is bounded: the longest are told in words', () => {
  const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
  const edges = names.flatMap((name, index) => [on(name, 'go', names[index + 1] ?? 'n0'), after(name, 1_000, 'n0')]);
  const graph = graphOf(
    'long',
    'n0',
    names.map((name) => state(name)),
    edges,
  );
  const svg = toSvg(graph);
  assert.ok(svg.length < 1_000_000);
  assert.match(svg, />after 1 s → n0</);
  assert.equal(svg.match(/class="box/g)?.length, 200);
});

test('a row settles as near to the wishes as the gaps allow', () => {
  const wish = fc.record({
    at: fc.integer({ min: -50, max: 50 }),
    weight: fc.integer({ min: 1, max: 9 }),
    gap: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(
      fc.array(wish, { minLength: 1, maxLength: 8 }),
      fc.nat(7),
      fc.constantFrom(-1, 1),
      (wishes, which, way) => {
        const settled = settleRow(wishes);
        const keeps = (row: readonly number[]) =>
          row.every((x, at) => at === 0 || x - (row[at - 1] ?? 0) >= (wishes[at]?.gap ?? 0) - 1e-9);
        const cost = (row: readonly number[]) =>
          row.reduce((sum, x, at) => sum + (wishes[at]?.weight ?? 0) * (x - (wishes[at]?.at ?? 0)) ** 2, 0);
        assert.ok(keeps(settled));
        // No single one could stand better without pushing another.
        const nudged = settled.map((x, at) => (at === which % settled.length ? x + way * 0.01 : x));
        if (keeps(nudged)) assert.ok(cost(nudged) >= cost(settled) - 1e-6);
      },
    ),
  );
});
