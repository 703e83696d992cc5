/**
 * Seed 001's tables for providers, row by row: a real gateway and a real provider, on a clock that moves only from one
 * pause to the next. What the file says is read as `recourse up` reads it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { loadProject } from '../../../src/compose/project/load-project.ts';
import { servingOptions } from '../../../src/compose/project/serve-options.ts';
import { modelKinds } from '../../support/models/model-kinds.ts';
import type { ActionErrorReply, Reply } from '../../../src/core/call/reply.ts';
import type { ModelKinds } from '../../../src/core/model/model-provider.ts';
import type { RetryRule } from '../../../src/core/recovery/playbook.ts';
import { openGateway } from '../../../src/main.ts';
import { eventually } from '../../support/eventually.ts';
import { closedPort } from '../../support/http/closed-port.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { requests } from '../../support/models/model-upstream.ts';
import { anthropicErrors, openaiErrors, type Refusal, withHeaders } from '../../support/models/provider-errors.ts';
import type { Script } from '../../support/models/script.ts';
import { startProvider } from '../../support/models/start-provider.ts';
import { allCalls, withReader } from '../../support/read-journal.ts';

interface Ended {
  readonly reply: Reply;
  /** Between its attempts, as they are on record. */
  readonly pauses: readonly number[];
  /** Requests that the provider got. */
  readonly sends: number;
}

interface Setting {
  /** More of the provider in the file. */
  readonly yaml?: string;
  readonly kinds?: ModelKinds;
  readonly url?: string;
  readonly tool?: 'openai/chat' | 'claude/messages';
}

async function run(t: TestContext, scripts: readonly Script[], setting: Setting = {}): Promise<Ended> {
  const provider = await startProvider(t, { always: scripts.at(-1) ?? {} });
  provider.next(...scripts.slice(0, -1));
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-retry-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'recourse.db');
  const { yaml = '', kinds = modelKinds, url, tool = 'openai/chat' } = setting;
  writeFileSync(
    path.join(folder, 'recourse.yaml'),
    `models:
  openai: { kind: openai, url: "${url ?? provider.openai}"${yaml} }
  claude: { kind: anthropic, url: "${provider.anthropic}"${yaml} }
`,
  );
  const loaded = await loadProject({ cwd: folder, kinds, storeOf: async () => null });
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.problems));
  const clock = createManualClock(Date.UTC(2026, 9, 21, 7, 28));
  const {
    recovery,
    dns: _,
    ticketRules,
    ...options
  } = servingOptions(loaded.project, [], {
    file,
    agent: 'bot',
    onNotice: () => undefined,
  });
  const { gateway, shell } = await openGateway(options, { clock, recovery, ticketRules });
  t.after(() => gateway.close({ drain_seconds: 0 }));
  const [, operation] = tool.split('/') as [string, 'chat' | 'messages'];
  const ended = gateway.handle({ tool, args: requests[operation], deadline_seconds: 3_600 });
  let reply: Reply | null = null;
  void ended.then((told) => (reply = told));
  let pauses: readonly number[] = [];
  const look = async () => {
    const call = await withReader(file, async (reader) => {
      const [found] = await allCalls(reader);
      return found === undefined ? null : { records: await reader.recordsOf(found.id) };
    });
    pauses = (call?.records ?? [])
      .filter(({ kind }) => kind === 'attempt_scheduled')
      .map(({ body }) => (JSON.parse(body) as { readonly pause_ms: number }).pause_ms);
    // Only while it waits: a clock that jumps between the claim and the send would pass the window in which it is sent.
    if (shell.live.backoffs.size > 0) clock.forward(pauses.at(-1) ?? 0);
    return reply !== null;
  };
  await eventually('the end of the call', look);
  const sends = provider.ledger.filter(({ method }) => method === 'POST').length;
  return { reply: await ended, pauses, sends };
}

const within = (pauses: readonly number[], steps: readonly number[], jitter: number): void => {
  assert.equal(pauses.length, steps.length, JSON.stringify(pauses));
  for (const [at, step] of steps.entries()) {
    const pause = pauses[at] ?? 0;
    assert.ok(pause >= step * (1 - jitter) && pause <= step * (1 + jitter), `${pause} is not about ${step}`);
  }
};

const failedWith = (reply: Reply): ActionErrorReply => {
  assert.ok('error' in reply && reply.error === 'action_error', JSON.stringify(reply));
  return reply;
};

const fine: Script = { says: { text: 'yes', tokens: { input: 1, output: 1 } } };
const refuses = (refusal: Refusal, headers: Readonly<Record<string, string>> = {}): Script => ({
  refuses: withHeaders(refusal, headers),
});

describe('RateLimited', () => {
  const exact: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a date', { 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30_000],
    ['milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
  ];
  for (const [form, headers, pauseMs] of exact)
    test(`[S001-rate-1] [C9-schedule-1] with Retry-After in ${form} the provider is asked again exactly then`, async (t) => {
      const { reply, pauses, sends } = await run(t, [refuses(openaiErrors.limited, headers), fine]);
      assert.ok('result' in reply, JSON.stringify(reply));
      assert.deepEqual([pauses, sends], [[pauseMs], 2]);
    });

  for (const [tool, refusal] of [
    ['openai/chat', openaiErrors.limited],
    ['claude/messages', anthropicErrors.limited],
  ] as const)
    test(`[S001-rate-2] [S001-rate-3] [C9-schedule-1] ${tool} without Retry-After waits 5, 10, 20, 40, 80 and 160 s, a fifth more or less, and is then terminal`, async (t) => {
      const { reply, pauses, sends } = await run(t, [refuses(refusal)], { tool });
      within(pauses, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000], 0.2);
      const { class: errorClass, code, effect, outcome } = failedWith(reply);
      assert.deepEqual([sends, errorClass, code, effect], [7, 'ProviderTransient', 'RateLimited', 'none']);
      assert.equal(outcome?.kind, 'exhausted');
    });

  test('[C9-schedule-2] a pause longer than is allowed is told, not waited for', async (t) => {
    const { reply, pauses, sends } = await run(t, [refuses(openaiErrors.limited, { 'retry-after': '86400' })]);
    const { code, resolution } = failedWith(reply);
    assert.deepEqual([pauses, sends, code], [[], 1, 'RateLimited']);
    assert.deepEqual(resolution, { type: 'retry_after', retry_after_seconds: 86_400 });
  });

  test('a quota that is used up is terminal at once, whatever the file says', async (t) => {
    const yaml = ', retry: { retryable: true, max_attempts: 4, backoff: fixed, base: 1s }';
    const { reply, sends } = await run(t, [refuses(openaiErrors.noQuota)], { yaml });
    assert.deepEqual([failedWith(reply).code, sends], ['RateLimited', 1]);
  });
});

describe('NetworkTimeout and Provider5xx', () => {
  const rows: readonly (readonly [string, Script, string, Setting])[] = [
    [
      'a connection that closes without an answer',
      { fault: { kind: 'drop', when: 'before_head' } },
      'NetworkTimeout',
      {},
    ],
    ['an answer that closes before its end', { fault: { kind: 'drop', when: 'after_head' } }, 'NetworkTimeout', {}],
    [
      'no answer in time',
      { fault: { kind: 'stall', when: 'before_head' } },
      'NetworkTimeout',
      { yaml: ', headers_timeout: 1s' },
    ],
    ['500', refuses(openaiErrors.failed), 'Provider5xx', {}],
    ['503, overloaded', refuses(openaiErrors.overloaded), 'Provider5xx', {}],
    ['504', refuses(anthropicErrors.timedOut), 'Provider5xx', { tool: 'claude/messages' }],
    ['529, overloaded', refuses(anthropicErrors.overloaded), 'Provider5xx', { tool: 'claude/messages' }],
  ];
  for (const [what, script, code, setting] of rows)
    test(`[S001-class-2] [S001-default-1] [S001-schedule-1] [C9-schedule-3] ${what} is ${code}: after 1, 2 and 4 s, a fifth more or less, then terminal`, async (t) => {
      const { reply, pauses, sends } = await run(t, [script], setting);
      within(pauses, [1_000, 2_000, 4_000], 0.2);
      const failed = failedWith(reply);
      assert.deepEqual([failed.class, failed.code, failed.effect, sends], ['ProviderTransient', code, 'none', 4]);
    });

  test('a provider that cannot be reached is tried as often', async (t) => {
    const { pauses, sends } = await run(t, [fine], { url: `http://127.0.0.1:${await closedPort()}/v1` });
    within(pauses, [1_000, 2_000, 4_000], 0.2);
    assert.equal(sends, 0);
  });

  test('whatever heals in between gives the answer', async (t) => {
    const { reply, pauses, sends } = await run(t, [refuses(openaiErrors.failed), refuses(openaiErrors.failed), fine]);
    assert.ok('result' in reply && reply.attempts === 3, JSON.stringify(reply));
    assert.deepEqual([pauses.length, sends], [2, 3]);
  });
});

const rule = (more: Partial<RetryRule>): RetryRule => ({
  retryable: true,
  maxAttempts: 2,
  backoff: 'linear',
  baseMs: 3_000,
  jitter: 0,
  classifier: {},
  ...more,
});

function kindsWith(retry: RetryRule): ModelKinds {
  return new Map([...modelKinds].map(([name, kind]) => [name, { ...kind, protocol: { ...kind.protocol, retry } }]));
}

describe('a retry rule', () => {
  test("[S001-rate-5] of the provider's kind takes the place of the rules for all", async (t) => {
    const { pauses, sends } = await run(t, [refuses(openaiErrors.failed)], { kinds: kindsWith(rule({})) });
    assert.deepEqual([pauses, sends], [[3_000, 6_000], 3]);
  });

  test('in the file takes the place of both', async (t) => {
    const yaml = ', retry: { retryable: true, max_attempts: 1, backoff: fixed, base: 9s, jitter: 0 }';
    const { pauses, sends } = await run(t, [refuses(openaiErrors.failed)], { kinds: kindsWith(rule({})), yaml });
    assert.deepEqual([pauses, sends], [[9_000], 2]);
  });

  test('that retries nothing holds for a rate limit too', async (t) => {
    const { pauses, sends } = await run(t, [refuses(openaiErrors.limited)], { yaml: ', retry: { retryable: false }' });
    assert.deepEqual([pauses, sends], [[], 1]);
  });
});

const terminal: readonly (readonly [string, Refusal, string, Setting])[] = [
  ['400', openaiErrors.invalid, 'InputInvalid', {}],
  ['400, too long for the model', openaiErrors.contextTooLong, 'ContextWindowTooSmall', {}],
  ['400, content refused', openaiErrors.contentRefused, 'InputInvalid', {}],
  ['401', openaiErrors.badKey, 'Forbidden', {}],
  ['403', openaiErrors.forbidden, 'Forbidden', {}],
  ['404', openaiErrors.noSuchModel, 'NotFound', {}],
  ['413', openaiErrors.tooLarge, 'InputInvalid', {}],
  ['422', openaiErrors.unprocessable, 'InputInvalid', {}],
  ['400 of Anthropic', anthropicErrors.contextTooLong, 'InputInvalid', { tool: 'claude/messages' }],
  ['401 of Anthropic', anthropicErrors.badKey, 'Forbidden', { tool: 'claude/messages' }],
];

describe('never sent again', () => {
  for (const [status, refusal, code, setting] of terminal)
    test(`${status} is ${code}, whatever the file says`, async (t) => {
      const yaml = ', retry: { retryable: true, max_attempts: 4, backoff: fixed, base: 1s }';
      const { reply, pauses, sends } = await run(t, [refuses(refusal)], { ...setting, yaml });
      const failed = failedWith(reply);
      assert.deepEqual([failed.code, failed.effect, pauses, sends], [code, 'none', [], 1]);
    });
});
