/** The exit codes of the command. Public: pinned by test/pins/cli.test.ts. */
export const exitCodes = {
  done: { code: 0, says: 'done' },
  no: {
    code: 1,
    says: 'a negative result: invalid configuration or journal, no such call, output cannot be written, primer failed',
  },
  usage: { code: 2, says: 'the command line is wrong; for test: a case failed' },
  store: { code: 3, says: 'the store cannot be opened or read, or no gateway answers' },
  unexpected: { code: 4, says: 'a bug of recourse; the message has an id, RECOURSE_DEBUG=1 adds the stack' },
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]['code'];
