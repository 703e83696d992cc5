import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needNode } from './need-node.ts';

test('a Node that is new enough passes without a word', () => {
  for (const version of ['24.0.0', '24.21.0', '100.1.2']) needNode(version);
});

test('an older Node gets one sentence that says what to do', () => {
  for (const version of ['0.12.18', '18.20.8', '20.20.2', '23.11.1']) {
    const sentence = `recourse-gateway needs Node 24 or newer and this is v${version}: install a newer Node`;
    assert.throws(() => needNode(version), { message: sentence });
  }
});
