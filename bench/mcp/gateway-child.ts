/** A gateway over MCP HTTP: `steps FILE` serves the ring, `tools FILE URL` passes on to the server at that address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpHandler } from '../../src/doors/mcp/http/http-handler.ts';
import { createMcpDoor } from '../../src/doors/mcp/mcp-door.ts';
import { sameNames } from '../../src/doors/mcp/model-names.ts';
import { openGateway } from '../../src/main.ts';
import { handleCall, handleUnfit } from '../../src/shell/call/handle-call.ts';
import { ring } from './ring.ts';

const [mode, file = '', url = ''] = process.argv.slice(2);
const connect = { kind: 'http', url, headers: {} } as const;
const servers = [{ name: 'up', connect, timeoutMs: null, trustAnnotations: false, rules: [] }];
const behind = mode === 'steps' ? { workflows: [ring] } : { servers };
const { gateway, shell, service, upstreams } = await openGateway({ ...behind, file, tools: [] });

const door = createMcpDoor({
  name: 'bench',
  version: '1',
  who: { tenant: 'default', agent: 'local' },
  mode: 'step',
  workflow: mode === 'steps' ? { service, name: 'ring', actions: ring.actions } : null,
  tools:
    mode === 'steps'
      ? null
      : {
          names: () => sameNames,
          catalogue: upstreams.catalogue,
          call: (raw, who, by) => handleCall(raw, who, by, shell),
        },
  graph: { mermaid: () => '', json: () => ({}) },
  unfit: (errors, who) => handleUnfit(errors, who, shell),
  notify: () => undefined,
});
const handler = createHttpHandler(door);
const server = createServer((request, response) => handler.handle(request, response));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

process.once('SIGTERM', () => {
  server.closeAllConnections();
  void handler
    .close({ drainMs: 0 })
    .then(() => gateway.close({ drain_seconds: 0 }))
    .then(() => process.exit(0));
});
