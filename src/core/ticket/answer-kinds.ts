/** The names of the answers to a ticket. Data only; answers.ts says what each does. */

export const answerKinds = [
  'retry',
  'replace',
  'approve',
  'authenticate',
  'it_happened',
  'it_did_not',
  'never_known',
  'give_up',
] as const;

export type AnswerKind = (typeof answerKinds)[number];
