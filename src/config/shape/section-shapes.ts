/** Shapes of the sections roles and notify. Data only. */
import { webhookEvents } from '../../core/http/webhook-message.ts';
import { queuePattern } from '../../core/recovery/read-playbook.ts';
import { notifyFormats } from '../config.ts';
import { durationPattern } from '../duration.ts';
import { kindUse } from './extension-shape.ts';
import { duration, type Field, flag, listOf, named, type Shape, text } from './shape.ts';

const person = text('a person, as their key names them', {
  pattern: ['^[^\\u0000-\\u0020\\u007f]{1,128}$', 'a name without spaces, at most 128 characters'],
});

export const rolesShape: Shape = named('people by role', listOf('the people who have it', person, 1));

const orNever = (says: string) =>
  text(says, { pattern: [`^(?:never|${durationPattern.slice(1, -1)})$`, 'a duration such as 4h or 7d, or never'] });

const queueFields: Readonly<Record<string, Field>> = {
  due: { shape: orNever('after which time a ticket is overdue; 4h if not given') },
  expires: { shape: orNever('after which time it ends by itself; 7d if not given, never for the queue in_doubt') },
  who: {
    shape: listOf('who answers: people as their keys name them, or roles; everybody who may, if not given', person, 1),
  },
  client: { shape: flag("whether the user of the agent's own client may answer; no if not given") },
};

export const ticketsShape: Shape = {
  kind: 'fields',
  says: 'how long tickets may take, and who answers them',
  fields: {
    ...queueFields,
    queues: {
      shape: named('what differs for one queue', { kind: 'fields', says: 'one queue', fields: queueFields }, [
        queuePattern,
        '1 to 64 letters, digits, _ . or -',
      ]),
    },
  },
};

const mailAddress = text('an address of mail', {
  pattern: [
    "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,8}$",
    'an address such as ops@example.com, without a name',
  ],
});

export const notifyShape: Shape = named('who is told when something happens', {
  kind: 'fields',
  says: 'a webhook, a mail server or a notifier of an extension, and what is told',
  oneOf: ['webhook', 'smtp', 'extension'],
  fields: {
    webhook: {
      shape: text('the address that is posted to', {
        template: true,
        pattern: ['^https?://[^\\s]+$', 'an address that begins with http:// or https://'],
      }),
    },
    smtp: {
      shape: text('the mail server, with user and password if it wants them', {
        template: true,
        pattern: ['^smtps?://[^\\s]+$', 'an address such as smtp://user:password@host:587'],
      }),
    },
    extension: { shape: kindUse('a notifier of an extension') },
    from: { shape: mailAddress },
    to: { shape: listOf('who gets the mail', mailAddress, 1, 50) },
    events: {
      shape: listOf(
        'the events that are told',
        text('a code of a denial or a notice, or another event', { oneOf: webhookEvents }),
        1,
      ),
      required: true,
    },
    batch: {
      shape: duration(
        'events within this time go into one message; 60s for mail if not given, else one message for each event',
        1_000,
      ),
    },
    limit: {
      shape: text('how many messages, such as 60/hour; for mail if not given', {
        pattern: ['^[1-9][0-9]{0,5}/(?:minute|hour|day)$', 'a number per minute, hour or day, such as 60/hour'],
      }),
    },
    secret: {
      shape: text('what its messages are signed with: ${NAME}', {
        template: true,
        pattern: ['^[^\\u0000-\\u001f\\u007f]{16,1024}$', 'one line of 16 to 1024 characters'],
      }),
    },
    format: { shape: text('json if not given; slack for an incoming webhook of Slack', { oneOf: notifyFormats }) },
    link: {
      shape: text('where a person finds the approval; {approval_id} stands for its id', {
        template: true,
        pattern: ['^https?://[^\\s]{1,2000}$', 'an address that begins with http:// or https://'],
      }),
    },
  },
});
