/**
 * A process with a keyring, for tests that need several or want to kill one. Takes an order on each line and answers on
 * a line. With `flood` it adds keys without end and prints each one that was acknowledged.
 */
import { rmSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { KeyringError } from '../../src/adapters/keyring-sqlite/keyring-error.ts';
import { openKeysOf } from '../../src/compose/state/key-files.ts';
import { ensureOperatorToken } from '../../src/compose/state/operator-token.ts';

export type KeyringOrder =
  | { readonly op: 'add'; readonly tenant: string; readonly name: string }
  | { readonly op: 'rotate'; readonly tenant: string; readonly id: string; readonly graceMs: number }
  | { readonly op: 'revoke'; readonly tenant: string; readonly id: string }
  | { readonly op: 'find'; readonly key: string }
  | { readonly op: 'ensure' }
  /** Dies in the middle of the first start: the key is kept, and not yet stored. */
  | { readonly op: 'die_while_keeping'; readonly token: string }
  | { readonly op: 'fill' | 'free' };

const [mode = '', store = ''] = process.argv.slice(2);
const say = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`);
const suppressed: string[] = [];
const nowMs = Date.now;

const opened = await openKeysOf(store, { onSuppressed: (problem) => void suppressed.push(problem) });
if (opened.kind === 'refused') {
  say(opened);
  process.exit(0);
}
const { keyring } = opened;
say({ kind: 'opened' });

const ballast = path.join(path.dirname(store), 'ballast');

async function obey(order: KeyringOrder): Promise<unknown> {
  switch (order.op) {
    case 'add':
      return keyring.add({ ...order, role: 'agent', createdBy: 'test', expiresAtMs: null }, nowMs());
    case 'rotate':
      return keyring.rotate(order.tenant, order.id, order.graceMs, 'test', nowMs());
    case 'revoke':
      return keyring.revoke(order.tenant, order.id, nowMs());
    case 'find':
      return { identity: await keyring.find(order.key, nowMs()), suppressed };
    case 'ensure':
      return ensureOperatorToken({ store, keyring, nowMs });
    case 'die_while_keeping': {
      const holder = { tenant: 'default', name: 'operator', createdBy: 'test', expiresAtMs: null };
      return keyring.addFirstAdmin(holder, nowMs(), (key) => {
        writeFileSync(order.token, `${key}\n`, { mode: 0o600 });
        process.kill(process.pid, 'SIGKILL');
      });
    }
    case 'fill':
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(4_096), { flag: 'a' });
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    case 'free':
      return rmSync(ballast);
    default:
      throw new Error(`no such order: ${JSON.stringify(order satisfies never)}`);
  }
}

if (mode === 'flood') {
  const writer = async () => {
    for (;;) say((await obey({ op: 'add', tenant: 'default', name: 'flood' })) as never);
  };
  for (let count = 0; count < 8; count++) void writer();
}

for await (const line of createInterface({ input: process.stdin })) {
  const { at, order } = JSON.parse(line) as { at: number; order: KeyringOrder };
  void obey(order).then(
    (value) => say({ at, value: value ?? null }),
    (error: unknown) => {
      if (!(error instanceof KeyringError)) throw error;
      say({ at, reason: error.reason, message: error.message });
    },
  );
}
await keyring.close();
process.exit(0);
