/** The names of the public API. Adding one needs a line here and in the changelog; removing one breaks somebody. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as client from '../../src/client/index.ts';
import * as testing from '../../src/client/testing.ts';
import * as webhooks from '../../src/client/webhooks.ts';
import * as extension from '../../src/extension/index.ts';
import * as extensionTesting from '../../src/extension/testing.ts';
import * as api from '../../src/index.ts';

test('the package exports exactly these values', () => {
  assert.deepEqual(Object.keys(api).sort(), [
    'GatewayError',
    'StageCallError',
    'ToolDefinitionError',
    'ToolFailure',
    'WorkflowDefinitionError',
    'createGateway',
    'defaultLimits',
    'failedWith',
    'httpStatusOf',
    'httpTool',
    'isPending',
    'isRefusal',
    'isSuccess',
    'loadPolicy',
    'mount',
    'partial',
    'replySchema',
    'taxonomy',
    'tool',
  ]);
});

test('recourse-gateway/client exports exactly these values', () => {
  assert.deepEqual(Object.keys(client).sort(), [
    'CallError',
    'ToolDeniedError',
    'createClient',
    'governTools',
    'httpTransport',
    'inProcessTransport',
    'localTools',
    'refusalOf',
    'remote',
    'tellModel',
  ]);
});

test('recourse-gateway/testing exports exactly these values', () => {
  assert.deepEqual(Object.keys(testing).sort(), [
    'CallError',
    'ToolDeniedError',
    'UnscriptedCallError',
    'budgetExceeded',
    'completionBlocked',
    'createScriptedTransport',
    'defer',
    'deny',
    'fail',
    'invalidInput',
    'lost',
    'notAReply',
    'notSent',
    'pending',
    'permit',
    'reply',
    'retryAfter',
    'timeout',
    'unknownEffect',
  ]);
});

test('recourse-gateway/webhooks exports exactly these values', () => {
  assert.deepEqual(Object.keys(webhooks).sort(), ['verifyWebhook']);
});

test('recourse-gateway/extension exports exactly these values', () => {
  assert.deepEqual(Object.keys(extension).sort(), [
    'contractVersion',
    'defineExtension',
    'failed',
    'lifetimeOf',
    'makeFailure',
    'provided',
    'spellOut',
  ]);
});

test('recourse-gateway/extension/testing exports exactly these values', () => {
  assert.deepEqual(Object.keys(extensionTesting).sort(), [
    'aHost',
    'aNotice',
    'attemptOf',
    'eventually',
    'planted',
    'provesCredentials',
    'provesNotifier',
    'provesProtocol',
    'provesUpstream',
    'testHttp',
  ]);
});

test('the package has exactly these entries', () => {
  const { exports } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    exports: object;
  };
  const built = (file: string) => ({ types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` });
  assert.deepEqual(exports, {
    '.': built('index'),
    './client': built('client/index'),
    './testing': built('client/testing'),
    './webhooks': built('client/webhooks'),
    './extension': built('extension/index'),
    './extension/testing': built('extension/testing'),
    './package.json': './package.json',
  });
});
