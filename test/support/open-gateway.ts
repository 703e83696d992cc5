/**
 * A real gateway on a real file for one test. Every reply it gives is checked; when the test is over, everything is
 * closed, the whole journal is verified, and the folder is removed.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type OperatorNotice,
  type Reply,
  type Tool,
} from '../../src/index.ts';
import type { CallId } from '../../src/core/call/call.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Ids } from '../../src/ports/ids.ts';
import type { JournalEntry, StoredCall } from '../../src/ports/store.ts';
import { checkReply } from './check-reply.ts';
import { checkFile, withReader } from './read-journal.ts';

export interface Asked {
  readonly tool: string;
  readonly args?: unknown;
  readonly session?: string;
  readonly key?: string;
  readonly turn?: string;
  readonly expected_seq?: number;
  readonly wait_seconds?: number;
  readonly deadline_seconds?: number;
}

interface Who {
  readonly agent?: string;
  readonly tenant?: string;
}

export interface OpenedGateway extends Pick<
  Gateway<readonly Tool[]>,
  'approvals' | 'cancel' | 'inbox' | 'openSession' | 'reversals' | 'settle' | 'status' | 'tickets' | 'close' | 'role'
> {
  readonly file: string;
  readonly folder: string;
  readonly notices: readonly OperatorNotice[];
  call(asked: Asked, options?: Who & { readonly signal?: AbortSignal }): Promise<Reply>;
  handle(value: unknown, options?: Who): Promise<Reply>;
  reply(callId: string, options?: Who): Promise<Reply | null>;
  stored(callId: string): Promise<StoredCall>;
  records(callId: string): Promise<readonly JournalEntry[]>;
}

export interface OpenOptions extends Partial<Omit<GatewayOptions<readonly Tool[]>, 'tools'>> {
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** DNS servers. */
  readonly dns?: readonly string[];
  /** Of its servers, as they list them. */
  readonly serverTools?: readonly string[];
}

interface Held {
  readonly gateways: OpenedGateway[];
  readonly files: Set<string>;
  readonly folder: string;
}

const held = new WeakMap<TestContext, Held>();

/** The folder of a test: made when it is first asked for. */
export function folderOf(t: TestContext): string {
  return heldBy(t).folder;
}

export async function openGateway(
  t: TestContext,
  tools: readonly Tool[],
  { clock, ids, dns, serverTools = [], ...options }: OpenOptions = {},
): Promise<OpenedGateway> {
  const { folder, files, gateways } = heldBy(t);
  const file = options.file ?? path.join(folder, 'recourse.db');
  const notices: OperatorNotice[] = [];
  const onNotice = options.onNotice ?? ((notice: OperatorNotice) => notices.push(notice));
  const parts = { ...(clock === undefined ? {} : { clock }), ...(ids === undefined ? {} : { ids }), dns };
  const gateway = await createGateway({ ...options, tools, file, onNotice }, parts);
  files.add(file);
  const around = { tools: [...tools.map(({ name }) => name), ...serverTools], folder };
  const check = (reply: unknown): Reply => checkReply(reply, around);
  const opened: OpenedGateway = {
    file,
    folder,
    notices,
    role: gateway.role,
    approvals: gateway.approvals,
    inbox: gateway.inbox,
    cancel: gateway.cancel,
    openSession: gateway.openSession,
    reversals: gateway.reversals,
    tickets: gateway.tickets,
    settle: gateway.settle,
    status: gateway.status,
    close: gateway.close,
    call: async (asked, who) => check(await gateway.call({ args: {}, ...asked } as never, who)),
    handle: async (value, who) => check(await gateway.handle(value, who)),
    async reply(callId, who) {
      const reply = await gateway.reply(callId, who);
      return reply === null ? null : check(reply);
    },
    stored: (callId) =>
      withReader(file, async (reader) => {
        const call = await reader.call(callId as CallId);
        assert.ok(call !== null, `${callId} is on record`);
        return call;
      }),
    records: (callId) => withReader(file, (reader) => reader.recordsOf(callId as CallId)),
  };
  gateways.push(opened);
  return opened;
}

function heldBy(t: TestContext): Held {
  const known = held.get(t);
  if (known !== undefined) return known;
  const made: Held = { gateways: [], files: new Set(), folder: mkdtempSync(path.join(tmpdir(), 'recourse-')) };
  held.set(t, made);
  t.after(async () => {
    try {
      for (const gateway of made.gateways) await gateway.close({ drain_seconds: 0 });
      for (const file of made.files) if (existsSync(file)) await checkFile(file);
    } finally {
      rmSync(made.folder, { recursive: true, force: true });
    }
  });
  return made;
}
