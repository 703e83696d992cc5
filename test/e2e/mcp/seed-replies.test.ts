import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import {
  connectHttp,
  connectInMemory,
  connectStdio,
  type Revision,
  revisions,
  serveHttp,
} from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { workflows } from '../../support/mcp-workflows.ts';

interface Walk {
  readonly workflow: keyof typeof workflows;
  readonly steps: readonly { readonly step: object; readonly expected: Readonly<Record<string, unknown>> }[];
}

/** The sample payloads of the contract, with exactly their fields and the forms of their messages. */
const documented: readonly Walk[] = [
  {
    workflow: 'coffee',
    steps: [
      {
        step: { action: 'pay', inputs: {} },
        expected: {
          error: 'invalid_transition',
          requested: 'pay',
          valid_next_actions: ['take_order'],
          message: "action 'pay' is not reachable from current state. Valid actions now: ['take_order'].",
        },
      },
      {
        step: { action: 'tako_order' },
        expected: {
          error: 'unknown_action',
          requested: 'tako_order',
          known_actions: ['take_order', 'add_modifier', 'pay', 'fulfill', 'cancel'],
        },
      },
      {
        step: { action: 'take_order', inputs: { drink: 'latte' } },
        expected: { action: 'take_order', valid_next_actions: ['add_modifier', 'pay', 'cancel'] },
      },
      {
        step: { action: 'add_modifier', inputs: { modifier: 'moon' } },
        expected: {
          error: 'validation_failed',
          requested: 'add_modifier',
          reason: 'modifier must be one of: oat, soy, almond',
          details: { field: 'modifier', got: 'moon' },
          valid_next_actions: ['add_modifier', 'pay', 'cancel'],
        },
      },
    ],
  },
  {
    workflow: 'report',
    steps: [
      {
        step: { action: 'fetch_report' },
        expected: {
          error: 'action_timeout',
          requested: 'fetch_report',
          timeout_seconds: 0.25,
          message: "action 'fetch_report' exceeded its 0.25s timeout.",
          valid_next_actions: ['fetch_report', 'cancel'],
        },
      },
    ],
  },
  {
    workflow: 'files',
    steps: [
      {
        step: { action: 'edit_file' },
        expected: {
          error: 'action_error',
          requested: 'edit_file',
          error_type: 'ValueError',
          error_message: 'must read the file before editing it',
          valid_next_actions: ['read_file', 'edit_file'],
        },
      },
    ],
  },
];

const ways = {
  'in memory': async (t: TestContext, workflow: Walk['workflow'], revision: Revision) =>
    connectInMemory(t, (await openDoor(t, { workflow: workflows[workflow] })).door, revision),
  'over HTTP': async (t: TestContext, workflow: Walk['workflow'], revision: Revision) => {
    const { url } = await serveHttp(t, (await openDoor(t, { workflow: workflows[workflow] })).door);
    return connectHttp(t, url, revision);
  },
  'over stdio': (t: TestContext, workflow: Walk['workflow'], revision: Revision) => connectStdio(t, workflow, revision),
};

for (const [way, connect] of Object.entries(ways))
  for (const revision of revisions)
    for (const { workflow, steps } of documented)
      test(`[S000-refusal-1] [S000-transition-2] [S000-unknown-2] [S000-validation-2] [S000-timeout-8] [S000-error-2] the replies of '${workflow}' are word for word those of the contract, ${way}, in ${revision}`, async (t) => {
        const client = await connect(t, workflow, revision);
        let session: string | null = null;
        for (const { step, expected } of steps) {
          const { reply, isError, text } = await client.step({ ...step, ...(session === null ? {} : { session }) });
          const said = Object.fromEntries(Object.entries(reply).filter(([field]) => field in expected));
          assert.deepEqual(said, expected);
          assert.equal(isError, 'error' in expected);
          assert.ok(Buffer.byteLength(JSON.stringify(reply) + text) <= 1_536, 'a typical reply is small');
          session = reply.session;
        }
      });
