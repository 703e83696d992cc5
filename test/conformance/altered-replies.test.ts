/** CONTRACT sections 6 and 8: what was changed in the file is never told as what was recorded. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import { createGateway, type OperatorNotice } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { folderOf } from '../support/open-gateway.ts';
import { withReader } from '../support/read-journal.ts';
import { createCountingTool } from '../support/tools.ts';

const asked = { tool: 'pay', args: { to: 'ada', amount: 5 }, key: 'order-17' } as const;

async function openPaid(t: TestContext) {
  const file = path.join(folderOf(t), 'altered.db');
  const pay = createCountingTool('pay');
  const notices: OperatorNotice[] = [];
  const onNotice = (notice: OperatorNotice) => void notices.push(notice);
  const gateway = await createGateway({ tools: [pay.definition], file, onNotice });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const first = successOf(await gateway.handle(asked));
  const alter = (change: string) => {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec(change);
    database.close();
  };
  return { file, pay, notices, gateway, first, alter };
}

const ofReply = '(SELECT reply_payload FROM calls)';

const forgeries: Readonly<Record<string, string>> = {
  'its text': `UPDATE payloads SET bytes = CAST(replace(CAST(bytes AS TEXT), '"pay"', '"gift"') AS BLOB) WHERE id = ${ofReply}`,
  'its salt': `UPDATE payloads SET salt = zeroblob(32) WHERE id = ${ofReply}`,
  'its salt, to one of another length': `UPDATE payloads SET salt = zeroblob(3) WHERE id = ${ofReply}`,
  'where it stands': 'UPDATE calls SET reply_payload = args_payload',
  'the record that commits to it': 'UPDATE journal SET header = zeroblob(40) WHERE payload IS NOT NULL',
};

describe('a stored reply that was changed in the file', () => {
  for (const [what, change] of Object.entries(forgeries))
    test(`[C8-altered-1] (${what}) is not told, by its key or by its id, and the call does not run again`, async (t) => {
      const { gateway, first, pay, alter, notices } = await openPaid(t);
      alter(change);
      for (const told of [await gateway.handle(asked), await gateway.reply(first.call_id)]) {
        const reply = errorOf(told, 'action_error');
        assert.deepEqual([reply.code, reply.error_type, reply.effect], ['StoreUnavailable', 'ReplyAltered', 'unknown']);
        assert.doesNotMatch(JSON.stringify(reply), /gift/);
      }
      assert.equal(pay.runs(), 1);
      assert.deepEqual(
        notices.map(({ kind }) => kind),
        ['reply_altered'],
        'the operator hears of it once',
      );
    });

  test('[C8-altered-1] is on record as altered, and shown to nobody who looks at the call', async (t) => {
    const { gateway, first, alter, file } = await openPaid(t);
    alter(forgeries['its text'] as string);
    await gateway.handle(asked);
    await withReader(file, async (reader) => {
      const id = first.call_id as CallId;
      assert.deepEqual(await reader.reply(id), { kind: 'altered' });
      const records = await reader.recordsOf(id);
      assert.equal(records.at(-1)?.kind, 'reply_altered');
      const settled = records.find(({ kind }) => kind === 'settled');
      assert.deepEqual(settled?.payloads, [{ part: 'reply', text: null }]);
    });
  });

  test('[C8-altered-1] by a process that has just started, too', async (t) => {
    const { gateway, alter, file, pay } = await openPaid(t);
    await gateway.close();
    alter(forgeries['its text'] as string);
    await assert.rejects(createGateway({ tools: [pay.definition], file }), /payload 'reply' does not match/);
  });
});
