/**
 * Sends the mail about a batch once. Recipients that took it, or never will, are remembered until it is over, so that a
 * retry reaches only the others.
 */
import MailComposer from 'nodemailer/lib/mail-composer';
import type { Delivered, DeliverNotice, Notice } from '../../extension/index.ts';
import { handOverMail } from './hand-over-mail.ts';
import { readMailServer } from './mail-server.ts';
import { type Mail, writeMail } from './write-mail.ts';

export interface Mailing {
  /** smtp:// or smtps://, with user and password if the server wants them. */
  readonly server: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** Of the message that is tried. */
interface Progress {
  readonly id: string;
  readonly taken: Set<string>;
  /** Addresses that the server refused for good, with its code. */
  readonly lost: Map<string, number>;
}

export function startMailing(mailing: Mailing): DeliverNotice {
  const server = readMailServer(mailing.server);
  /** By message: one that was set aside is tried beside the others. */
  const tried = new Map<string, Progress>();

  return async (message: Notice, signal: AbortSignal): Promise<Delivered> => {
    if (server === null) return { kind: 'failed', problem: 'its address is none', retryAfterMs: null };
    const { id } = message;
    const progress = tried.get(id) ?? { id, taken: new Set(), lost: new Map() };
    const to = mailing.to.filter((each) => !progress.taken.has(each) && !progress.lost.has(each));
    const mail = await compose(writeMail(message, mailing.from), mailing);
    const handed = await handOverMail({ server, from: mailing.from, to, mail, signal });
    for (const { recipient, code } of handed.rejected) if (code >= 500) progress.lost.set(recipient, code);
    const rejected = new Set(handed.rejected.map(({ recipient }) => recipient));
    if (handed.kind === 'taken') for (const each of to) if (!rejected.has(each)) progress.taken.add(each);
    const open = to.filter((each) => !progress.taken.has(each) && !progress.lost.has(each));
    const delivered = judge(handed, progress, open.length);
    remember(tried, progress, delivered.kind === 'failed');
    return delivered;
  };
}

type Handed = Awaited<ReturnType<typeof handOverMail>>;

function judge(handed: Handed, { taken, lost }: Progress, open: number): Delivered {
  if (handed.kind === 'failed' && handed.isFinal && handed.rejected.length === 0)
    return { kind: 'refused', problem: handed.problem };
  if (open > 0) {
    const some = handed.rejected.find(({ code }) => code < 500);
    const problem = handed.kind === 'failed' ? handed.problem : `SMTP ${some?.code ?? 0} for ${open} of the addresses`;
    return { kind: 'failed', problem, retryAfterMs: null };
  }
  if (lost.size === 0) return { kind: 'taken' };
  const codes = [...new Set(lost.values())].join(', ');
  const refused = `${lost.size} of ${lost.size + taken.size} addresses were refused (SMTP ${codes})`;
  return taken.size === 0 ? { kind: 'refused', problem: refused } : { kind: 'taken', butNot: refused };
}

/** Messages that are set aside are limited too; beyond this a recipient may get one twice, under the same id. */
const maxTried = 200;

function remember(tried: Map<string, Progress>, progress: Progress, isOpen: boolean): void {
  tried.delete(progress.id);
  if (isOpen) tried.set(progress.id, progress);
  const [oldest] = tried.keys();
  if (tried.size > maxTried && oldest !== undefined) tried.delete(oldest);
}

function compose(
  { messageId, subject, date, text }: Mail,
  { from, to }: Pick<Mailing, 'from' | 'to'>,
): Promise<Buffer> {
  const composer = new MailComposer({
    from,
    to: [...to],
    subject,
    date,
    messageId,
    text,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
