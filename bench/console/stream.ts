/** Makes decisions at a steady rate, whatever the gateway takes for each: calls of an agent over HTTP. */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const everyMs = 10;
const maxInFlight = 256;

export interface Streamed {
  readonly decided: number;
  readonly perSecond: number;
}

/** Of five calls one is permitted and four are denied, each with other arguments. */
export async function streamDecisions(
  { url, key }: { readonly url: string; readonly key: string },
  perSecond: number,
  seconds: number,
): Promise<Streamed> {
  const agent = new Agent({ keepAlive: true, maxSockets: maxInFlight });
  const began = performance.now();
  const until = began + seconds * 1_000;
  let [sent, decided, inFlight] = [0, 0, 0];
  const ask = async (n: number) => {
    inFlight += 1;
    try {
      await post(`${url}/v1/calls`, key, { tool: n % 5 === 0 ? 'shop/read' : 'shop/write', args: { n } }, agent);
      decided += 1;
    } finally {
      inFlight -= 1;
    }
  };
  const asked: Promise<void>[] = [];
  while (performance.now() < until) {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    while (sent < due && inFlight < maxInFlight) asked.push(ask(sent++));
    await pause(everyMs);
  }
  await Promise.all(asked);
  agent.destroy();
  return { decided, perSecond: decided / ((performance.now() - began) / 1_000) };
}

function post(address: string, key: string, body: object, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const asked = request(address, { method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', resolve);
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });
}
