/** A real store whose journal a test writes, and notices that follow it. Waits are short, so that no test sleeps. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { noticeLimits } from '../../src/adapters/notify/follow/notice-limits.ts';
import type { NoticeParts } from '../../src/adapters/notify/follow/subscriber.ts';
import type { NotifierUse } from '../../src/adapters/notify/follow/subscriber.ts';
import { smtp } from '../../src/extensions/smtp/index.ts';
import type { Mailing } from '../../src/extensions/smtp/send-mail.ts';
import { type AnySubscriber, type Notices, startNotices } from '../../src/adapters/notify/start-notices.ts';
import type { Webhook } from '../../src/adapters/notify/webhook/webhook.ts';
import { nodeClock } from '../../src/adapters/system-node/clock.ts';
import type { ApprovalView } from '../../src/core/approval/approval-view.ts';
import { canonicalText } from '../../src/core/values/canonical.ts';
import type { RecordKind } from '../../src/core/journal/record.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import type { DeliverNotice } from '../../src/ports/notice.ts';
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
  via: 'webhook',
  name: 'ops',
  events: ['POLICY_DEFER', 'COMPLETION_BLOCKED', 'RUNTIME_GAP'],
  batchMs: 0,
  limit: null,
  secret: 'a secret of sixteen characters',
  format: 'json',
  link: null,
  ...over,
});

export const aMailing = ({
  server,
  from = 'recourse@example.com',
  to = ['ada@example.com'],
  ...over
}: Partial<NotifierUse & Mailing> & { readonly server: string }): NotifierUse => ({
  via: 'extension',
  kind: 'smtp',
  settings: { server, from, to },
  name: 'people',
  events: ['POLICY_DEFER', 'POLICY_DENY', 'RUNTIME_GAP', 'breaker_opened'],
  batchMs: 0,
  limit: null,
  link: null,
  ...over,
});

export const quickLimits = {
  ...noticeLimits,
  pollMs: 2,
  backoffInitialMs: 2,
  backoffMaxMs: 8,
  jitter: 0,
  closeGraceMs: 50,
};

/** Mail, which is the only kind of notifier that ships with the gateway. */
export const notifierOf = ({ settings }: NotifierUse): DeliverNotice => smtp.notifiers.smtp.create(settings);

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

export interface NoticeHome {
  readonly store: SqliteStore;
  readonly cursorFile: string;
  readonly troubles: string[];
  /** What was put on record as given up. */
  readonly givenUp: string[];
  /** The ids of deliveries begin with this. */
  readonly prefix: string;
  record(recorded?: Recorded): Promise<string>;
  start(subscribers: readonly AnySubscriber[], over?: Partial<NoticeParts>): Promise<Notices>;
}

export async function openNoticeHome(t: TestContext): Promise<NoticeHome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-hooks-'));
  const file = path.join(folder, 'recourse.db');
  const store = await mustOpen({ file });
  const running: Notices[] = [];
  t.after(async () => {
    await Promise.all(running.map((notices) => notices.close()));
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const troubles: string[] = [];
  const givenUp: string[] = [];
  const cursorFile = `${file}.hooks.json`;
  return {
    store,
    cursorFile,
    troubles,
    givenUp,
    prefix: `evt_${await store.identity()}_`,
    record: (recorded) => record(store, recorded),
    async start(subscribers, over = {}) {
      const notices = await startNotices(subscribers, {
        store: () => store,
        approval: async (id) => ({ tenant: 'default', view: aView({ approval_id: id }) }),
        file: cursorFile,
        clock: nodeClock,
        random: () => 0.5,
        limits: quickLimits,
        notifierOf,
        onTrouble: (problem) => void troubles.push(problem),
        onGivenUp: (what, reason) => void givenUp.push(`${what}: ${reason}`),
        ...over,
      });
      running.push(notices);
      return notices;
    },
  };
}
