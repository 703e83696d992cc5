/**
 * Public surface, typed out: what scripts read of the commands that write and ask. A change here needs a changelog
 * entry.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recourse } from '../support/compiled-recourse.ts';
import { folderOf } from '../support/open-gateway.ts';
import { shapeOf } from '../support/shape-of.ts';
import { rules, smallProgram, smallServer } from '../support/small-server.ts';

const nobody = 'http://127.0.0.1:3';

test('what init, pin, explain, apply and status print with --json', (t) => {
  const cwd = folderOf(t);
  const env = { HOME: cwd };
  const json = (status: number, ...words: string[]): unknown => {
    const end = recourse([...words, '--json'], { cwd, env });
    assert.equal(end.status, status, end.stderr);
    return shapeOf(JSON.parse(end.stdout));
  };
  const servers = {
    small: { command: process.execPath, args: [smallProgram] },
    secret: { command: 'x', env: { A_TOKEN: 'x' } },
    off: { command: 'x', disabled: true },
  };
  writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
  const from = { name: 'string', from: 'string' };
  assert.deepEqual(json(0, 'init', '--dry-run'), {
    file: 'string',
    written: 'boolean',
    lock: 'null',
    servers: [{ ...from, problem: 'null' }],
    tools: [{ tool: 'string', effect: 'string', on_error: 'null', decision: 'string', why: 'string' }],
    left_out: [],
    skipped: [{ ...from, reason: 'string' }],
    unreadable: [],
    variables: [{ name: 'string', meaning: 'string', is_set: 'boolean' }],
    text: 'string',
  });

  writeFileSync(join(cwd, 'recourse.yaml'), `agents:\n${rules('bot', ['deny: small/echo'])}tools:\n${smallServer()}`);
  assert.deepEqual(json(0, 'pin'), {
    file: 'string',
    holds: 'boolean',
    written: 'boolean',
    servers: 'number',
    tools: 'number',
    changes: [{ change: 'string', tool: 'string', fields: [] }],
    left_out: [],
  });

  const playbook = json(0, 'playbook', 'show', 'small/echo') as Record<string, unknown>;
  assert.deepEqual(playbook, {
    tool: 'string',
    rows: [
      {
        verdict: 'string',
        effect_class: 'string',
        codes: ['string'],
        action: { kind: 'string', max_attempts: 'number', backoff_ms: ['number'] },
        jitter: 'number',
        guard: 'string',
        from: 'string',
      },
    ],
    breaker: { failures: 'number', open_ms: 'number', from: 'string' },
    quarantine: { ms: 'number', from: 'string' },
    reconcile: 'null',
    fixed: ['string'],
    remarks: [],
    hash: 'string',
  });

  const { reply, ...explained } = json(1, 'explain', 'small/echo', '--offline') as Record<string, unknown>;
  assert.equal(typeof reply, 'object');
  assert.deepEqual(explained, {
    tenant: 'string',
    agent: 'string',
    tool: 'string',
    decision: 'string',
    rungs: [
      {
        gate: 'string',
        answer: 'string',
        saw: { ready: 'boolean', in_flight: 'number', at_most: 'number' },
        why: 'null',
        change: 'null',
      },
    ],
    rules: [{ rule: 'number', ref: 'string', result: 'string', problem: 'null' }],
  });

  const store = { file: 'string', problem: 'string' };
  assert.deepEqual(json(1, 'status', '--url', nobody), {
    url: 'string',
    listening: 'boolean',
    ready: 'boolean',
    store,
  });

  writeFileSync(join(cwd, 'recourse.yaml'), 'tols: {}');
  const place = { file: 'string', line: 'number', column: 'number', text: 'string' };
  assert.deepEqual(json(1, 'apply', '--url', nobody), {
    applied: 'boolean',
    problems: [{ code: 'string', ...place, message: 'string', fix: 'string' }],
    forcible: 'boolean',
  });
});
