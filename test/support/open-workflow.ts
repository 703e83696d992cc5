/**
 * A real gateway with workflows on a real file for one test; every reply is checked, the journal is verified at the
 * end.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  createGateway,
  type ErrorReply,
  isRefusal,
  isSuccess,
  type Limits,
  type MountedWorkflow,
  type OperatorNotice,
  type Reply,
  replySchema,
  type SuccessReply,
  type Tool,
} from '../../src/index.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { checkFile } from './read-journal.ts';

const ajv = new Ajv2020({ strict: true, allErrors: true });
const matches = ajv.compile(replySchema());

export function checkStepReply<Checked extends Reply>(reply: Checked): Checked {
  assert.ok(matches(reply), `${ajv.errorsText(matches.errors)}: ${JSON.stringify(reply)}`);
  assert.deepEqual(JSON.parse(JSON.stringify(reply)), reply, 'a reply survives the wire as it is');
  if (isRefusal(reply) && reply.resolution.type === 'choose_action')
    assert.notDeepEqual(reply.resolution.actions, [], 'nobody chooses from nothing');
  return reply;
}

export interface Asked {
  readonly session?: string | undefined;
  readonly key?: string;
  readonly expected_seq?: number;
  readonly wait_seconds?: number;
  readonly workflow?: string;
}

export interface WorkflowOptions {
  readonly file?: string;
  readonly agent?: string;
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<Limits>;
  readonly policy?: Policy;
  readonly clock?: Clock;
}

export async function openWorkflow(t: TestContext, mounted: readonly MountedWorkflow[], options: WorkflowOptions = {}) {
  const { clock, ...rest } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  const file = options.file ?? path.join(folder, 'recourse.db');
  const notices: OperatorNotice[] = [];
  const onNotice = (notice: OperatorNotice) => void notices.push(notice);
  const parts = clock === undefined ? {} : { clock };
  const gateway = await createGateway({ ...rest, workflows: mounted, file, onNotice }, parts);
  t.after(async () => {
    await gateway.close({ drain_seconds: 0 });
    if (existsSync(file)) await checkFile(file);
    rmSync(folder, { recursive: true, force: true });
  });
  const name = mounted[0]?.name ?? '';
  return {
    ...gateway,
    file,
    notices,
    async open(options_: { agent?: string } = {}): Promise<string> {
      const view = await gateway.sessions.open(name, options_);
      assert.ok('session' in view && !('error' in view), JSON.stringify(view));
      return view.session;
    },
    /** `gateway.step` without its types: tests also ask for what the types forbid. */
    async ask(action: string, inputs: unknown, asked: Asked = {}, who: { agent?: string; tenant?: string } = {}) {
      return checkStepReply(await gateway.handleStep({ workflow: name, action, inputs, ...asked }, who));
    },
    async next(session: string): Promise<readonly string[]> {
      const view = await gateway.sessions.look(session);
      assert.ok(!('error' in view), JSON.stringify(view));
      return view.valid_next_actions;
    },
    async look(session: string) {
      const view = await gateway.sessions.look(session);
      assert.ok(!('error' in view), JSON.stringify(view));
      return view;
    },
    async history(session: string) {
      const page = await gateway.sessions.history(session);
      assert.ok(!('error' in page), JSON.stringify(page));
      return page.entries;
    },
  };
}

export function success(reply: Reply): SuccessReply {
  assert.ok(isSuccess(reply), JSON.stringify(reply));
  return reply;
}

export function refusal<Name extends ErrorReply['error']>(reply: Reply, error: Name) {
  assert.ok(isRefusal(reply), JSON.stringify(reply));
  assert.equal(reply.error, error, JSON.stringify(reply));
  return reply as Extract<ErrorReply, { error: Name }>;
}
