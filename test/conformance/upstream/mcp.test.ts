/** Tools of an MCP server over HTTP keep the contract of upstreams, against a real server. */
import type { ServerResponse } from 'node:http';
import { listenByHand } from '../../support/upstream-http.ts';
import { httpServer, openUpstreams } from '../../support/upstream-mcp.ts';
import { type Fault, planted, provesUpstream } from '../../../src/extension/proves/proves-upstream.ts';

const statuses: Readonly<Partial<Record<Fault, number>>> = {
  'input refused': 422,
  'not authenticated': 401,
  forbidden: 403,
  'not found': 404,
  'a conflict without a code': 409,
  'a rate limit of 7 seconds': 429,
  'a failure of its own': 500,
};

const noCode = 'an MCP server has no field for it beside the status';

provesUpstream('MCP over HTTP', {
  cannot: {
    'a key in flight': noCode,
    'a key completed': noCode,
    'a key of another request': noCode,
    'stale evidence': noCode,
  },
  async stage(t, fault) {
    const waiting: (() => void)[] = [];
    let begun = false;
    const reply = (response: ServerResponse, id: number, result: unknown) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    const server = await listenByHand(t, ({ id }, response) => {
      begun = true;
      const good = { content: [{ type: 'text', text: 'ok' }] };
      const status = statuses[fault];
      if (status !== undefined) response.writeHead(status, { 'retry-after': '7' }).end(planted);
      else if (fault === 'dropped after it was sent') response.socket?.destroy();
      else if (fault === 'a result of the wrong shape') reply(response, id, { content: 'text' });
      else if (fault === 'an answer that cannot be parsed')
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":');
      else if (fault === 'an answer beyond the limit') reply(response, id, { ...good, more: 'x'.repeat(50_000) });
      else if (fault === 'no answer until it is released') waiting.push(() => reply(response, id, good));
      else reply(response, id, good);
    });
    // A connection that is open already may have taken the request.
    if (fault === 'never sent') await server.stop();
    const limits = { maxMessageBytes: 20_000 };
    const upstreams = await openUpstreams(t, [httpServer('s', server.url, { authorization: planted })], { limits });
    const release = () => {
      for (const answer of waiting) answer();
    };
    return { upstream: upstreams.upstream, tool: 's/any', hasBegun: () => begun, release };
  },
});
