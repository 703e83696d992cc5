import assert from 'node:assert/strict';
import test from 'node:test';
import { aTool } from '../../../../test/support/builders.ts';
import type { ActionEntry } from '../../../core/workflow/workflow.ts';
import { misplacedSession, takesSessionArgument } from './session-argument.ts';

const session = 'ses_0d8358be_rbht410w23rfsfrjt6jmwmb1jn';
const text = { type: 'string' };

type What = 'taken' | 'refused' | 'an input';

const schemas: readonly (readonly [string, ActionEntry['inputSchema'], What])[] = [
  ['no schema', null, 'taken'],
  ['no properties', { type: 'object' }, 'taken'],
  ['no properties, and none allowed', { type: 'object', additionalProperties: false }, 'taken'],
  ['other inputs', { type: 'object', properties: { drink: {} } }, 'taken'],
  ['other inputs, and more allowed', { properties: { drink: {} }, additionalProperties: {} }, 'taken'],
  ['a session of its own', { type: 'object', properties: { session: {} } }, 'an input'],
  ['a session that it only requires', { properties: { a: {} }, required: ['session'] }, 'an input'],
  ['any names', { type: 'object', additionalProperties: text }, 'refused'],
  ['parts of others', { type: 'object', properties: {}, allOf: [] }, 'refused'],
  ['parts of others, one with a session', { allOf: [{ properties: { session: text } }] }, 'an input'],
  ['a reference', { properties: {}, $ref: '#/$defs/x', $defs: { x: { properties: { a: {} } } } }, 'refused'],
  ['a reference to a session', { $ref: '#/$defs/x', $defs: { x: { required: ['session'] } } }, 'an input'],
  ['inputs named by a pattern', { properties: {}, patternProperties: { '^s': {} } }, 'refused'],
];

for (const [what, inputSchema, expected] of schemas)
  test(`of an action with ${what}, a handle among the arguments is ${expected}`, () => {
    const action = { ...aTool(), inputSchema } as ActionEntry;
    assert.equal(takesSessionArgument(action), expected === 'taken');
    assert.equal(misplacedSession(action, { session }), expected === 'refused' ? session : null);
    for (const other of ['espresso', 7, null, {}]) assert.equal(misplacedSession(action, { session: other }), null);
  });
