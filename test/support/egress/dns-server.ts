/** A small DNS server on loopback for a test: answers A and AAAA over UDP, and can change its mind. */
import dgram from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import type { TestContext } from 'node:test';

/** The addresses of a name; a list of lists gives one after the other, and then the last one again. */
export type Zone = Record<string, readonly string[] | readonly (readonly string[])[]>;

export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Names that were asked for, each with its type. */
  readonly asked: readonly string[];
}

const typeA = 1;
const typeAaaa = 28;

export async function startDns(t: Pick<TestContext, 'after'>, zone: Zone): Promise<DnsServer> {
  const asked: string[] = [];
  const turns = new Map<string, number>();
  const socket = dgram.createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question);
    const key = `${name} ${type}`;
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    asked.push(`${name} ${type === typeA ? 'A' : 'AAAA'}`);
    const all = zone[name];
    const lists = all === undefined || typeof all[0] === 'string' ? [all] : (all as readonly (readonly string[])[]);
    const given = (lists[Math.min(turn, lists.length - 1)] ?? []) as readonly string[];
    const answers = given.filter((address) => net.isIP(address) === (type === typeAaaa ? 6 : 4));
    socket.send(answer(question.subarray(0, end), answers, type, all !== undefined), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked };
}

function readQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length !== 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answer(question: Buffer, addresses: readonly string[], type: number, isKnown: boolean): Buffer {
  const head = Buffer.from(question);
  // An answer with recursion; NXDOMAIN for a name that is not there.
  head.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((address) => {
    const data = bytesOf(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

function bytesOf(address: string): Buffer {
  if (net.isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const gap = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => 0);
  return Buffer.from([...groups(head), ...gap, ...groups(tail)].flatMap((group) => [group >> 8, group & 0xff]));
}
