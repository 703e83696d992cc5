/** A real mail server that keeps what it got, and answers what the test says. */
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The user who logged in; null if nobody did. */
  readonly user: string | null;
  readonly raw: string;
  /** By name in lower case, unfolded; all of them in `headerNames`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly headerNames: readonly string[];
  readonly text: string;
}

export type MailStage = 'login' | 'from' | 'to' | 'data';

export interface MailReceiver {
  readonly port: number;
  /** What was taken. */
  readonly got: ReceivedMail[];
  /** Mails that came, whether or not they were taken. */
  readonly tried: ReceivedMail[];
  /** Names and passwords that were sent. */
  readonly logins: string[];
  /** A code of SMTP instead of a yes. From now on; asked at each stage. */
  answer(how: (stage: MailStage, address: string) => number | null): void;
  url(login?: string, host?: string): string;
  stop(): Promise<void>;
  /** At the same port. */
  start(): Promise<void>;
}

export async function startMailReceiver(t: TestContext, options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const [got, tried]: [ReceivedMail[], ReceivedMail[]] = [[], []];
  const logins: string[] = [];
  let decide: (stage: MailStage, address: string) => number | null = () => null;
  let port = 0;
  let server: SMTPServer | null = null;
  const refusal = (stage: MailStage, address: string): Error | null => {
    const code = decide(stage, address);
    return code === null ? null : Object.assign(new Error(`no, ${address}`), { responseCode: code });
  };
  const start = async () => {
    const next = new SMTPServer({
      logger: false,
      disabledCommands: ['STARTTLS'],
      authOptional: true,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, callback) {
        logins.push(`${username}:${password}`);
        const error = refusal('login', String(username));
        if (error === null) callback(null, { user: username });
        else callback(error);
      },
      onMailFrom: ({ address }, _session, callback) => callback(refusal('from', address)),
      onRcptTo: ({ address }, _session, callback) => callback(refusal('to', address)),
      onData(stream, { envelope, user }, callback) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          const to = envelope.rcptTo.map(({ address }) => address);
          const mail = readMail(
            Buffer.concat(chunks).toString('utf8'),
            from,
            to,
            user === undefined ? null : String(user),
          );
          tried.push(mail);
          const error = refusal('data', from);
          if (error === null) got.push(mail);
          callback(error);
        });
      },
      ...options,
    });
    next.on('error', () => undefined);
    await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve));
    port = (next.server.address() as AddressInfo).port;
    server = next;
  };
  const stop = async () => {
    const last = server;
    server = null;
    if (last !== null) await new Promise<void>((resolve) => last.close(() => resolve()));
  };
  await start();
  t.after(stop);
  return {
    port,
    got,
    tried,
    logins,
    answer: (how) => void (decide = how),
    url: (login = '', host = '127.0.0.1') => `smtp://${login === '' ? '' : `${login}@`}${host}:${port}`,
    stop,
    start,
  };
}

function readMail(raw: string, from: string, to: readonly string[], user: string | null): ReceivedMail {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const pairs = lines.map(
    (line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const,
  );
  const headers = new Map(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  const text = decoded(raw.slice(end + 4), headers.get('content-transfer-encoding') ?? '7bit');
  return { from, to, user, raw, headers, headerNames: pairs.map(([name]) => name.toLowerCase()), text };
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
