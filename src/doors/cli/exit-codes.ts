/** The exit codes of the command. Public: pinned by test/pins/cli.test.ts. */
export const exitCodes = {
  done: { code: 0, says: 'done' },
  no: {
    code: 1,
    says: 'the answer is no: the configuration or the journal does not hold, no such call, no room to write, the primer failed',
  },
  usage: { code: 2, says: 'the command line cannot be understood; of test: a case failed' },
  store: { code: 3, says: 'the store cannot be opened or read, or no gateway answers' },
  unexpected: { code: 4, says: 'a bug of recourse; the sentence carries an id, RECOURSE_DEBUG=1 adds the stack' },
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]['code'];
