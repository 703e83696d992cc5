/** What the three readers of a failure get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorReply } from '../call/reply.ts';
import { resolutions } from '../taxonomy.ts';
import { renderForAudit, renderForModel, renderForPerson } from './render-error.ts';

test('a model reads the message without the lines of a stack and without secrets', () => {
  const message = [
    'it broke: token=hunter22',
    '    at run (file.js:1:2)',
    '    at async [path]',
    '    at new Promise (<anonymous>)',
    'at noon',
  ];
  assert.deepEqual(renderForModel({ errorType: 'Odd', message: message.join('\n') }, 1_000), {
    errorType: 'Odd',
    message: 'it broke: token=[redacted]\nat noon',
  });
});

test('the audit gets the whole chain, up to eight times a message', () => {
  assert.equal(renderForAudit({ cause: null }, 10), null);
  assert.equal(renderForAudit({ cause: 'x'.repeat(100) }, 10)?.length, 80);
});

test('a person gets a sentence for every resolution, also one of another version', () => {
  const facts = { rule_id: 'a:1', approval_ids: ['apr_1'], fields: ['n'], retry_after_seconds: 3, reason: 'plan anew' };
  const said = [...Object.keys(resolutions), 'later_type'].map((type) => {
    const reply = { message: 'it broke', effect: 'none', resolution: { type, ...facts } };
    return renderForPerson(reply as unknown as ErrorReply).todo;
  });
  assert.equal(new Set(said).size, Object.keys(resolutions).length + 1);
  assert.ok(said.includes('ask again in 3 s') && said.at(-1) === 'later_type');
});
