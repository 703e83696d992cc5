/** A real store whose journal a test writes, and webhooks that follow it. Waits are short, so that no test sleeps. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { startWebhooks, type Webhooks } from '../../src/adapters/notify-webhook/start-webhooks.ts';
import type { Webhook, WebhookParts } from '../../src/adapters/notify-webhook/webhook.ts';
import { webhookLimits } from '../../src/adapters/notify-webhook/webhook-limits.ts';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import type { ApprovalView } from '../../src/core/approval/approval-view.ts';
import { canonicalText } from '../../src/core/values/canonical.ts';
import type { RecordKind } from '../../src/core/journal/record.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import type { SqliteStore } from '../../src/adapters/store-sqlite/sqlite-store.ts';
import { mustOpen } from '../conformance/sqlite-home.ts';
import { nothingYet } from '../../src/shell/ending/transition.ts';

export const aView = (over: Partial<ApprovalView> = {}): ApprovalView => ({
  approval_id: 'apr_1',
  state: 'pending',
  agent: 'bot',
  tool: 'stripe/refund',
  session: null,
  call_id: 'call_1',
  args: { order: 'ord_1', amount: 40 },
  rule_ref: 'recourse.yaml:14',
  reason: 'refunds need a person',
  approvers: null,
  needed: 1,
  approved_by: [],
  decided: null,
  on_approve: 'wait',
  opened_at: '2026-05-18T00:00:00Z',
  expires_at: '2026-05-19T00:00:00Z',
  shown: 'abc',
  ...over,
});

export const aHook = (over: Partial<Webhook> & { readonly url: string }): Webhook => ({
  name: 'ops',
  events: ['POLICY_DEFER', 'COMPLETION_BLOCKED', 'RUNTIME_GAP'],
  secret: 'a secret of sixteen characters',
  format: 'json',
  link: null,
  ...over,
});

export const quickLimits = {
  ...webhookLimits,
  pollMs: 2,
  backoffInitialMs: 2,
  backoffMaxMs: 8,
  jitter: 0,
  closeGraceMs: 50,
};

let written = 0;

/** One record of the journal; of approvals if nothing else is said. */
export async function record(
  store: Pick<SqliteStore, 'commit'>,
  { kind = 'approval_opened', body = { approval: 'apr_1' }, reply }: Recorded = {},
): Promise<string> {
  const payloads = reply === undefined ? [] : [{ part: 'reply', text: canonicalText(reply) }];
  const [result] = await store.commit([
    {
      token: `txn_${process.pid}_${++written}`,
      atMs: nodeClock.nowMs(),
      ...nothingYet,
      records: [{ kind, call: null, session: null, body: canonicalText(body), payloads }],
    },
  ]);
  if (result?.kind !== 'committed' || result.position === null) throw new Error(JSON.stringify(result));
  return `${result.position.epoch}.${result.position.seq}`;
}

export interface Recorded {
  readonly kind?: RecordKind;
  readonly body?: JsonObject;
  readonly reply?: JsonObject;
}

export interface WebhookHome {
  readonly store: SqliteStore;
  readonly cursorFile: string;
  readonly troubles: string[];
  /** The ids of deliveries begin with this. */
  readonly prefix: string;
  record(recorded?: Recorded): Promise<string>;
  start(hooks: readonly Webhook[], over?: Partial<WebhookParts>): Promise<Webhooks>;
}

export async function openWebhookHome(t: TestContext): Promise<WebhookHome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-hooks-'));
  const file = path.join(folder, 'recourse.db');
  const store = await mustOpen({ file });
  const running: Webhooks[] = [];
  t.after(async () => {
    await Promise.all(running.map((webhooks) => webhooks.close()));
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const troubles: string[] = [];
  const cursorFile = `${file}.hooks.json`;
  return {
    store,
    cursorFile,
    troubles,
    prefix: `evt_${await store.identity()}_`,
    record: (recorded) => record(store, recorded),
    async start(hooks, over = {}) {
      const webhooks = await startWebhooks(hooks, {
        store: () => store,
        approval: async (id) => ({ tenant: 'default', view: aView({ approval_id: id }) }),
        file: cursorFile,
        clock: nodeClock,
        random: () => 0.5,
        limits: quickLimits,
        onTrouble: (problem) => void troubles.push(problem),
        ...over,
      });
      running.push(webhooks);
      return webhooks;
    },
  };
}
