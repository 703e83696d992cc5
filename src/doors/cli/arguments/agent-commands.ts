/** The commands for keys, as data; a part of the table in commands.ts. */
import type { CommandEntry } from './command-entry.ts';

export const agentCommands = {
  'agents ls': {
    group: 'Admit',
    says: 'who has a key: agents and people, with what it may do and when it was used',
    more: ['Oldest first, those that ended included. The keys themselves are not kept: nobody can show them again.'],
    argument: null,
    no: null,
    options: ['agent', 'tenant', 'config', 'file', 'json'],
    means: { agent: 'only keys of this name' },
    examples: [
      ['recourse agents ls', 'everybody of the tenant default'],
      ['recourse agents ls --agent support-bot --json', 'the keys of one agent, for a program'],
    ],
  },
  'agents add': {
    group: 'Admit',
    says: 'make a key for an agent or a person; it is shown once',
    more: [
      'The key alone goes to standard output, the explanation to standard error. Works on the file of keys beside the store,',
      'whether or not a gateway runs, and before there is a store. agent: calls tools. viewer: looks. approver: also decides',
      'approvals. admin: also changes policy and keys, and settles calls.',
    ],
    argument: 'name',
    no: 'the tenant has no room for another key',
    options: ['role', 'tenant', 'expires', 'config', 'file', 'json'],
    examples: [
      ['recourse agents add support-bot', 'a key for one agent'],
      ['recourse agents add ann --role approver --expires 30d', 'a person, for a month'],
    ],
  },
  'agents rotate': {
    group: 'Admit',
    says: 'another key for the same holder; the old one ends, at once or after --grace',
    more: [
      'For every day: with --grace both keys work until the new one is in its place. A key that somebody else may have seen',
      'is rotated without. A key with an end gets the same time anew. A key can be rotated once.',
    ],
    argument: 'key_id',
    no: 'there is no such key in the tenant, or it has ended',
    options: ['grace', 'tenant', 'config', 'file', 'json'],
    examples: [
      ['recourse agents rotate 3k9c7f20mzq4x8vt --grace 1h', 'an hour to put the new key in its place'],
      ['recourse agents rotate 3k9c7f20mzq4x8vt', 'the old key ends now'],
    ],
  },
  'agents revoke': {
    group: 'Admit',
    says: 'end a key; gateways that run refuse it within a second',
    more: ['A key that was revoked stays so. Calls that it made before go on.'],
    argument: 'key_id',
    no: 'there is no such key in the tenant',
    options: ['tenant', 'config', 'file', 'json'],
    examples: [['recourse agents revoke 3k9c7f20mzq4x8vt', 'this key, and no other of its holder']],
  },
} as const satisfies Record<string, CommandEntry>;
