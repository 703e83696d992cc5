/** The names of the public API. Adding one needs a line here and in the changelog; removing one breaks somebody. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as api from '../../src/index.ts';

test('the package exports exactly these values', () => {
  assert.deepEqual(Object.keys(api).sort(), [
    'GatewayError',
    'ToolDefinitionError',
    'ToolFailure',
    'WorkflowDefinitionError',
    'createGateway',
    'defaultLimits',
    'httpStatusOf',
    'isPending',
    'isRefusal',
    'isSuccess',
    'mount',
    'partial',
    'replySchema',
    'taxonomy',
    'tool',
  ]);
});
