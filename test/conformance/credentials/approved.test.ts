/** CONTRACT section 6: a call that the gateway runs by itself once it is approved, and whose secret is not there yet. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { z } from 'zod';
import { defaultTerms } from '../../../src/core/approval/approval.ts';
import { httpTool, type Tool } from '../../../src/index.ts';
import { anAgent, aPolicy } from '../../support/a-policy.ts';
import { errorOf } from '../../support/check-reply.ts';
import { bearerOf, listenCredentialApi } from '../../support/credentials/credential-api.ts';
import { eventually } from '../../support/eventually.ts';
import { folderOf, openGateway } from '../../support/open-gateway.ts';

test('[C6-credential-1] with on_approve run it waits for its secret, and runs by itself', async (t) => {
  const api = await listenCredentialApi(t, bearerOf);
  api.demand('plantedSecretOne');
  const file = path.join(folderOf(t), 'pay.key');
  const pay = httpTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    method: 'POST',
    url: `${api.url}/pay`,
  }) as Tool;
  const terms = { ...defaultTerms, onApprove: 'run' } as const;
  const local = anAgent('local', [['defer', 'pay']]);
  const gateway = await openGateway(t, [pay], {
    policy: aPolicy([{ ...local, rules: local.rules.map((rule) => ({ ...rule, terms })) }]),
    credentials: {
      pay: { file: { path: file }, match: ['pay'], inject: { header: 'Authorization' }, retry_after_seconds: 1 },
    },
  });
  const held = errorOf(await gateway.call({ tool: 'pay' }), 'denied');
  assert.ok(held.resolution.type === 'pending_approval', held.code);
  const id = held.resolution.approval_id;
  assert.ok((await gateway.approvals.approve(id, { by: 'ana' })).ok);
  await eventually(
    'its secret was looked for',
    async () => gateway.status().credentials?.[0]?.state === 'failing',
    60_000,
  );
  assert.deepEqual([(await gateway.stored(held.call_id)).state, api.heard.length], ['AWAITING_APPROVAL', 0]);
  writeFileSync(file, 'plantedSecretOne');
  await eventually('it ran', async () => (await gateway.stored(held.call_id)).state === 'SUCCEEDED', 60_000);
  assert.equal(api.done(), 1);
});
