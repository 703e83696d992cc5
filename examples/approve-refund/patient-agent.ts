/**
 * An agent that speaks MCP and nothing else. It knows no approvals: it reads what it is told, and does what the reply
 * advises.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

interface Told {
  readonly error?: string;
  readonly code?: string;
  readonly state?: string;
  readonly resolution?: {
    readonly type: string;
    readonly approval_id?: string;
    readonly approval_ids?: readonly string[];
  };
}

export async function connectAgent(url: string, key: string) {
  const client = new Client({ name: 'patient-agent', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  const call = async (name: string, args: Record<string, unknown>): Promise<Told> => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return (structuredContent ?? {}) as Told;
  };
  return {
    call,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    /** Waits as long as it takes, in waits that are each bounded. */
    async awaitApproval(id: string): Promise<string> {
      for (;;) {
        const { state = 'unknown' } = await call('await_approval', { approval_id: id, wait_seconds: 20 });
        if (state !== 'pending') return state;
      }
    },
    close: () => client.close(),
  };
}
