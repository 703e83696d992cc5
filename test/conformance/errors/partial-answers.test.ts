/** CONTRACT section 8: what had arrived of a streamed answer is for the audit, and hides what a result hides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretHider, hideSecrets } from '../../../src/compose/serve/secret-hider.ts';
import { hideOwn } from '../../../src/compose/serve/hide-own.ts';
import { type Attempt, makeFailure, type Upstream } from '../../../src/ports/upstream.ts';
import { maskResults } from '../../../src/shell/mask.ts';
import { anAgent, aPolicy } from '../../support/a-policy.ts';

const broken = (partial: object): Upstream => ({
  invoke: async () => ({
    kind: 'failed',
    failure: makeFailure('5xx', 'broken after jane@example.com', {
      subject: 'stream_broken',
      partial: partial as never,
    }),
  }),
});
const attempt = { args: {}, agent: 'local' } as unknown as Attempt;

async function failureOf(upstream: Upstream) {
  const result = await upstream.invoke(attempt, AbortSignal.any([]));
  assert.ok(result.kind === 'failed');
  return result.failure;
}

test('[C8-partial-1] what the policy masks in results is masked in it, and in the words beside it', async () => {
  const policy = aPolicy([anAgent('local', [], { redact: ['result.user.email'] })]);
  const masked = maskResults(
    broken({ user: { email: 'jane@example.com', name: 'Jane' } }),
    (agent) => policy.agents.get(agent) ?? null,
  );
  const { partial, message } = await failureOf(masked);
  assert.deepEqual(partial, { user: { email: '[redacted]', name: 'Jane' } });
  assert.equal(message, 'broken after [redacted]');
});

test('[C8-partial-1] no secret of a credential or of the gateway is in it', async () => {
  const hider = createSecretHider();
  hider.add('sk-live-0123456789');
  const own = { secrets: ['hunter2-hunter2'], paths: ['/srv/recourse'] };
  const { partial } = await failureOf(
    hideOwn(hideSecrets(broken({ text: 'sk-live-0123456789 and hunter2-hunter2' }), hider), own),
  );
  assert.deepEqual(partial, { text: '[redacted] and [redacted]' });
});
