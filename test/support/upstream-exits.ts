/** A process that starts two servers, tells their ids and exits without a goodbye. */
import { createMcpUpstreams } from '../../src/adapters/upstream-mcp/mcp-upstreams.ts';
import { ownServer } from './upstream-mcp.ts';

const upstreams = createMcpUpstreams([ownServer('one', 'ignores_signals'), ownServer('two', 'flood')]);
await upstreams.ready(15_000);
process.stdout.write(`${JSON.stringify(upstreams.status().map(({ pid }) => pid))}\n`, () => process.exit(0));
