/** Clients of the official SDK, as an agent would have them. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export async function connectClient(url: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

export const connectClients = (url: string, count: number): Promise<Client[]> =>
  Promise.all(Array.from({ length: count }, () => connectClient(url)));
