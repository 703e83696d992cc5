/** An MCP server over HTTP that demands a secret of every request, and repeats it. Plain JSON answers. */
import type { TestContext } from 'node:test';
import { bearerOf } from './credential-api.ts';
import { type Api, listenApi } from '../http/api.ts';

export interface CredentialMcp extends Api {
  demand(secret: string): void;
  calls(): number;
}

export async function listenCredentialMcp(t: Pick<TestContext, 'after'>, secret: string): Promise<CredentialMcp> {
  let demanded = secret;
  let calls = 0;
  const api = await listenApi(t, (request, response) => {
    const say = (status: number, body: object | null) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === null ? undefined : JSON.stringify(body));
    };
    const given = bearerOf(request);
    if (given !== demanded) return say(401, { message: `not ${given}` });
    if (request.method !== 'POST') return say(405, null);
    const { id, method, params } = JSON.parse(request.body) as { id?: number; method: string; params?: object };
    if (id === undefined) return say(202, null);
    const answer = (result: object) => say(200, { jsonrpc: '2.0', id, result });
    if (method === 'initialize')
      return answer({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'repeats', version: '1' },
      });
    if (method === 'tools/list') return answer({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
    if (method !== 'tools/call') return say(200, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } });
    calls++;
    return answer({ content: [{ type: 'text', text: JSON.stringify({ given, params }) }] });
  });
  return { ...api, demand: (next) => void (demanded = next), calls: () => calls };
}
