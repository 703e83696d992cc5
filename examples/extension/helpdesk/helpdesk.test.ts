/** The extension keeps the contracts of what it adds, against real servers and folders. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { aHost, type Fault, planted, provesNotifier, provesUpstream } from '../../../src/extension/testing.ts';
import { fileDrop } from './file-drop.ts';
import { extension } from './index.ts';
import { createTicketSystem } from './ticket-system.ts';

const said = (code: string) => JSON.stringify({ code, message: `no: ${planted}` });
const answers: Readonly<Partial<Record<Fault, readonly [number, string]>>> = {
  'a result': [200, '{"ok":true}'],
  'an answer that cannot be parsed': [200, '{"ok":'],
  'an answer beyond the limit': [200, JSON.stringify({ ok: true, more: 'x'.repeat(100_000) })],
  'input refused': [422, said('x')],
  'not authenticated': [401, said('x')],
  forbidden: [403, said('x')],
  'not found': [404, said('x')],
  'a key in flight': [409, said('key_in_use')],
  'a key completed': [409, said('key_done')],
  'a key of another request': [409, said('key_of_another')],
  'a conflict without a code': [409, said('x')],
  'stale evidence': [412, said('stale')],
  'a rate limit of 7 seconds': [429, said('x')],
  'a failure of its own': [500, said('x')],
};

provesUpstream('the ticket system', {
  cannot: {
    'a result of the wrong shape': 'the gateway holds results to the declared output',
    'a late answer': 'a request that was stopped is closed',
  },
  async stage(t, fault) {
    let heard = 0;
    const waiting: ServerResponse[] = [];
    const server = createServer((request, response) => {
      heard += 1;
      const [status, body] = answers[fault] ?? [200, '{"ok":true}'];
      if (fault === 'dropped after it was sent') request.socket.destroy();
      else if (fault === 'no answer until it is released') waiting.push(response);
      else response.writeHead(status, { 'retry-after': '7' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => {
      server.close();
      server.closeAllConnections();
    };
    t.after(close);
    if (fault === 'never sent') close();
    const upstream = createTicketSystem({ url: `http://127.0.0.1:${port}`, token: planted }, aHost());
    const release = () => {
      for (const response of waiting) response.end('{"ok":true}');
    };
    return { upstream, tool: 'create_ticket', hasBegun: () => heard > 0, release };
  },
});

provesNotifier('the file drop', {
  cannot: {
    'refuses for good': 'a folder may be mended',
    'never answers': 'a disk that hangs cannot be staged',
  },
  shows: (id) => id,
  secret: 'planted-folder',
  async stage(t, receiving) {
    const folder = path.join(mkdtempSync(path.join(tmpdir(), 'planted-folder-')), 'into');
    t.after(() => rmSync(path.dirname(folder), { recursive: true, force: true }));
    // A file stands where the folder should be.
    if (receiving === 'is away') writeFileSync(folder, '');
    return {
      deliver: fileDrop.create({ folder }, aHost()),
      received: async () => readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8')),
      mend: async () => rmSync(folder),
      wasAsked: () => true,
    };
  },
});

test('a subject is trimmed, and one of spaces alone is refused', async () => {
  const { subject } = extension.validators;
  assert.deepEqual(subject({ subject: ' on fire ', priority: 'low' }), {
    ok: true,
    args: { subject: 'on fire', priority: 'low' },
  });
  assert.equal(subject({ subject: '  ' }).ok, false);
});

test('high priority costs five', () => {
  const { attention } = extension.costs;
  const costOf = (args: { readonly priority?: string }) => attention({ args, result: null, usage: null });
  assert.deepEqual([costOf({ priority: 'high' }), costOf({})], [5, 1]);
});
