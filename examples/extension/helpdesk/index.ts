/** The extension: what it adds to a gateway, by name. */
import { defineExtension } from '../../../src/extension/index.ts';
import { fileDrop } from './file-drop.ts';
import { helpdeskKind } from './ticket-system.ts';

export const extension = defineExtension({
  name: 'helpdesk',
  contract: 1,
  upstreams: { helpdesk: helpdeskKind },
  notifiers: { 'file-drop': fileDrop },
  validators: {
    // Subjects without the spaces that people leave around them, and never empty.
    subject: (args) => {
      const { subject, ...rest } = args as { readonly subject: string };
      const trimmed = subject.trim();
      if (trimmed === '')
        return { ok: false, errors: [{ path: '/subject', expected: 'more than spaces', got: subject }] };
      return { ok: true, args: { ...rest, subject: trimmed } };
    },
  },
  costs: {
    // What a ticket costs the people who read it.
    attention: ({ args }) => ((args as { readonly priority?: string }).priority === 'high' ? 5 : 1),
  },
});
