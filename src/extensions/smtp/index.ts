/** The extension that tells people by mail: the kind `smtp`, which stands in recourse.yaml. */
import { defineExtension } from '../../extension/index.ts';
import { type Mailing, startMailing } from './send-mail.ts';

const text = { type: 'string', minLength: 1 };

export const smtp = defineExtension({
  name: 'smtp',
  contract: 1,
  notifiers: {
    smtp: {
      settings: {
        type: 'object',
        properties: {
          // Its password is part of it.
          server: { ...text, writeOnly: true },
          from: text,
          to: { type: 'array', items: text, minItems: 1 },
        },
        required: ['server', 'from', 'to'],
        additionalProperties: false,
      },
      create: (settings) => startMailing(settings as unknown as Mailing),
    },
  },
});
