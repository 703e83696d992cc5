/**
 * Hands one mail to a server, once, for these recipients. Never rejects; its texts hold no address, no password and
 * nothing that the server wrote.
 */
import { Socket } from 'node:net';
import type { NodemailerError } from 'nodemailer/lib/errors';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MailServer } from './mail-server.ts';

export interface MailOrder {
  readonly server: MailServer;
  readonly from: string;
  readonly to: readonly string[];
  /** As it goes over the wire. */
  readonly mail: Buffer;
  readonly signal: AbortSignal;
}

export interface Rejected {
  readonly recipient: string;
  /** 4xx is tried again, 5xx is not. */
  readonly code: number;
}

export type HandedOver =
  /** The server took it for everybody but these. */
  | { readonly kind: 'taken'; readonly rejected: readonly Rejected[] }
  /** Nobody got it. `rejected`: why, if it was because of the recipients. */
  | {
      readonly kind: 'failed';
      readonly problem: string;
      /** The server will never take this mail. */
      readonly isFinal: boolean;
      readonly rejected: readonly Rejected[];
    };

/** Whoever asks sets the time limit, by the signal. */
export function handOverMail({ server, from, to, mail, signal }: MailOrder): Promise<HandedOver> {
  if (signal.aborted) return Promise.resolve(failed(stopped));
  return new Promise((resolve) => {
    const socket = new Socket();
    const connection = new SMTPConnection(optionsFor(server, socket));
    const finish = (result: HandedOver) => {
      signal.removeEventListener('abort', onStop);
      resolve(result);
      connection.close();
      socket.destroy();
    };
    const fail = (error: NodemailerError) => finish(failureOf(error));
    const onStop = () => finish(failed(stopped));
    signal.addEventListener('abort', onStop, { once: true });
    connection.on('error', fail);
    connection.on('end', () => finish(failed('the connection was closed')));
    const send = () =>
      connection.send({ from, to: [...to], size: mail.length }, mail, (error, info) => {
        if (error) return fail(error);
        finish({ kind: 'taken', rejected: rejectedIn(info ?? {}) });
      });
    connection.connect((error) => {
      if (error) return fail(error);
      if (server.user === null) return send();
      connection.login({ user: server.user, pass: server.password }, (refusal) => (refusal ? fail(refusal) : send()));
    });
  });
}

/** Ours is the time that counts; these only end what it would have ended. */
const endedAfterMs = 600_000;
const maxAnswerBytes = 64 << 10;

function optionsFor({ host, port, tls }: MailServer, socket: Socket) {
  return {
    host,
    port,
    // Ours, so that it can be destroyed at any moment.
    socket,
    secure: tls === 'always',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'none',
    tls: { minVersion: 'TLSv1.2' as const },
    connectionTimeout: endedAfterMs,
    greetingTimeout: endedAfterMs,
    socketTimeout: endedAfterMs,
    dnsTimeout: endedAfterMs,
    maxResponseSize: maxAnswerBytes,
    logger: false,
  };
}

const stopped = 'it was stopped';

const failed = (problem: string, isFinal = false, rejected: readonly Rejected[] = []): HandedOver => ({
  kind: 'failed',
  problem,
  isFinal,
  rejected,
});

/**
 * A refusal of the mail itself is final. One of the greeting, the login or TLS is about the account or the server: an
 * operator can mend it, so it is tried again.
 */
function failureOf(error: NodemailerError): HandedOver {
  const { code = 'error', responseCode, command = '' } = error;
  const { originalCode } = error as { readonly originalCode?: unknown };
  const rejected = rejectedIn(error as Rejections);
  const cause = typeof originalCode === 'string' ? originalCode : code;
  const problem = typeof responseCode === 'number' ? `SMTP ${responseCode} at ${commandName(command)}` : cause;
  const isAboutMail = /^(?:MAIL FROM|RCPT TO|DATA)$/.test(command);
  const isFinal = isAboutMail && (typeof responseCode === 'number' ? responseCode >= 500 : code === 'EMESSAGE');
  return failed(problem, isFinal, rejected);
}

const commandName = (command: string): string => /^[A-Z]+(?: [A-Z0-9-]+)?$/.exec(command)?.[0] ?? 'the connection';

interface Rejections {
  readonly rejected?: readonly string[] | undefined;
  readonly rejectedErrors?: readonly NodemailerError[] | undefined;
}

const rejectedIn = ({ rejected = [], rejectedErrors = [] }: Rejections): readonly Rejected[] =>
  rejected.map((recipient, at) => ({ recipient, code: Number(rejectedErrors[at]?.responseCode ?? 0) }));
