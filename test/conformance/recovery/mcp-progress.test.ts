/** A client that asked for it hears of progress while its call is under way, and so knows that it is not forgotten. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolFailure } from '../../../src/index.ts';
import { aTool } from '../../support/builders.ts';
import { connectHttp, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';

for (const revision of revisions)
  test(`[C9-retry-10] progress is told while the gateway waits to send a call again, in ${revision}`, async (t) => {
    let sends = 0;
    const run = () => {
      sends += 1;
      if (sends > 1) return { sends };
      throw new ToolFailure({ kind: '429', message: 'not now', retry_after_seconds: 1 });
    };
    const tools = [{ ...aTool({ name: 'busy', effectClass: 'pure' }), run }];
    const { door } = await openDoor(t, { tools, doorLimits: { progressEveryMs: 20 } });
    const { client } = await connectHttp(t, (await serveHttp(t, door)).url, revision);
    const told: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void told.push(progress);
    const { structuredContent } = await client.callTool({ name: 'busy', arguments: {} }, { onprogress });
    const { result, attempts } = structuredContent as { result: unknown; attempts: number };
    assert.deepEqual([result, attempts], [{ sends: 2 }, 2]);
    assert.ok(told.length > 0);
    assert.deepEqual(
      told,
      [...new Set(told)].toSorted((one, other) => one - other),
      'always more',
    );
  });
