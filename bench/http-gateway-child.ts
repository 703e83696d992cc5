/** A gateway behind its HTTP door, with a tool that does nothing: `FILE KEYFILE`; a real key is written to KEYFILE. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuthenticator } from '../src/compose/state/authenticate.ts';
import { noExtensions } from '../src/compose/extensions/extension-set.ts';
import { createConsoleSessions } from '../src/compose/console/console-sessions.ts';
import { createGovernance } from '../src/compose/serve/governance.ts';
import { openKeysOf } from '../src/compose/state/key-files.ts';
import { openHttpDoor } from '../src/compose/serve/open-http-door.ts';
import { emptyConfig } from '../src/config/config.ts';
import { openGateway } from '../src/main.ts';
import { noop } from './noop-gateway.ts';

const [file = '', keyFile = ''] = process.argv.slice(2);
const opened = await openGateway({ tools: [noop], workflows: [], file });
const keys = await openKeysOf(file);
if (keys.kind === 'refused') throw new Error(keys.message);
const { keyring } = keys;
const nowMs = () => Date.now();
const holder = { tenant: 'default', role: 'agent', name: 'local', createdBy: 'bench', expiresAtMs: null } as const;
writeFileSync(keyFile, (await keyring.add(holder, nowMs())).key);

const project = {
  file: null,
  config: emptyConfig,
  apis: [],
  extensions: noExtensions,
  models: [],
  workflows: [],
  policy: null,
  warnings: [],
  files: [],
};
const load = async () => ({ ok: true, project }) as const;
const door = openHttpDoor(
  {
    version: '0.0.0',
    hosts: ['127.0.0.1'],
    startedAtMs: nowMs(),
    nowMs,
    authenticate: createAuthenticator({ keyring, nowMs, openAs: null }),
    console: createConsoleSessions({ keyring, nowMs }),
  },
  { current: () => opened, close: () => opened.gateway.close() },
  createGovernance(project, { load, errorsIn: async () => [], record: async () => true }),
);
const server = createServer((request, response) => {
  if (!door.handle(request, response)) door.handleUnknown(request, response);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', () => {
  server.closeAllConnections();
  void door
    .close({ drainMs: 0 })
    .then(() => opened.gateway.close({ drain_seconds: 0 }))
    .then(() => keyring.close())
    .then(() => process.exit(0));
});
