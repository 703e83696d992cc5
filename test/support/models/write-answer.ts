/** Writes the answer of a local provider to its connection, and does to it what the script says. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { JsonObject } from '../../../src/core/values/json.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Refusal } from './provider-errors.ts';
import type { SaidTokens, WireEvent } from './said.ts';
import type { Fault, Script } from './script.ts';

export interface Answering {
  readonly script: Script;
  readonly release: Promise<void>;
  readonly tokens: Required<SaidTokens>;
  readonly headers: Readonly<Record<string, string>>;
  readonly content:
    | { readonly kind: 'plain'; readonly answer: JsonObject }
    | { readonly kind: 'stream'; readonly events: readonly WireEvent[] };
}

export function writeRefusal(entry: LedgerEntry, response: ServerResponse, { status, headers, body }: Refusal): void {
  entry.ended = 'refused';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

export async function writeAnswer(entry: LedgerEntry, response: ServerResponse, answering: Answering): Promise<void> {
  const { script, tokens, content, headers } = answering;
  const { fault } = script;
  if (fault?.kind === 'redirect') {
    const refusal = { status: 307, headers: { location: fault.to }, body: {} };
    return writeRefusal(entry, response, refusal);
  }
  // The model works from here on, whoever waits for it.
  entry.billed = tokens;
  if (isAt(fault, 'before_head')) return breakOff(entry, response, fault);
  if (content.kind === 'plain' && script.holdAfter !== undefined) await answering.release;
  const type = content.kind === 'plain' ? 'application/json' : 'text/event-stream; charset=utf-8';
  response.writeHead(200, { ...headers, 'content-type': fault?.kind === 'wrong_type' ? 'text/html' : type });
  response.flushHeaders();
  if (isAt(fault, 'after_head')) return breakOff(entry, response, fault);
  if (content.kind === 'stream') return writeStream(entry, response, content.events, answering);
  const text = JSON.stringify(content.answer);
  await write(response, fault?.kind === 'malformed' ? text.slice(0, -7) : text, fault);
  finish(entry, response);
}

async function writeStream(
  entry: LedgerEntry,
  response: ServerResponse,
  events: readonly WireEvent[],
  { script: { fault, holdAfter }, release }: Answering,
): Promise<void> {
  for (const event of events) {
    if (isAt(fault, entry.events)) return breakOff(entry, response, fault);
    if (fault !== undefined && 'after' in fault && fault.after === entry.events) {
      if (fault.kind === 'error_event') await write(response, textOf(fault.event, JSON.stringify(fault.data)), fault);
      if (fault.kind === 'malformed') await write(response, 'data: {"id": "chatcmpl-12", "cho\n\n', fault);
      if (fault.kind === 'endless_event') return writeEndless(entry, response);
      if (fault.kind !== 'malformed') return finish(entry, response);
    }
    if (holdAfter === entry.events) await release;
    if (response.destroyed) return;
    await write(response, textOf(event.event, event.data), fault);
    entry.events++;
  }
  finish(entry, response);
}

const textOf = (name: string | null, data: string): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`;

async function writeEndless(entry: LedgerEntry, response: ServerResponse): Promise<void> {
  await write(response, 'data: "', undefined);
  while (!response.destroyed) {
    await write(response, 'x'.repeat(16_384), undefined);
    await turn();
  }
  entry.ended = 'left';
}

/** Waits until the reader has taken what was written, as a provider with back pressure does. */
async function write(response: ServerResponse, text: string, fault: Fault | undefined): Promise<void> {
  const pieces = fault?.kind === 'trickle' ? Buffer.from(text) : [Buffer.from(text)];
  for (const piece of pieces) {
    if (response.destroyed) return;
    const isTaken = response.write(typeof piece === 'number' ? Buffer.from([piece]) : piece);
    if (fault?.kind === 'trickle') await turn();
    if (!isTaken) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
}

const isAt = (fault: Fault | undefined, when: 'before_head' | 'after_head' | number): boolean =>
  (fault?.kind === 'drop' || fault?.kind === 'stall') && fault.when === when;

function breakOff(entry: LedgerEntry, response: ServerResponse, fault: Fault | undefined): void {
  if (fault?.kind === 'stall') return;
  entry.ended = 'broken';
  // After what was written before has left.
  if (response.headersSent) response.write('', () => response.destroy());
  else response.destroy();
}

function finish(entry: LedgerEntry, response: ServerResponse): void {
  if (response.destroyed) return;
  entry.ended = 'whole';
  response.end();
}
