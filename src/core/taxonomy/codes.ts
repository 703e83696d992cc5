/** All codes, joined from four files. Public: codes are added or deprecated, never renamed or reused. */
import type { ErrorClass } from './classes.ts';
import { codesOfGovernance } from './codes-of-governance.ts';
import { codesOfSessions } from './codes-of-sessions.ts';
import { codesOfSetup } from './codes-of-setup.ts';
import { codesOfTools } from './codes-of-tools.ts';

export const codes = { ...codesOfSetup, ...codesOfTools, ...codesOfSessions, ...codesOfGovernance } as const;

export type ErrorCode = keyof typeof codes;
export type GovernanceCode = keyof typeof codesOfGovernance;

/** The class of a code, as a type. */
export type ClassOfCode<Code extends ErrorCode> = (typeof codes)[Code]['class'];

/** The codes of a class, as a type. */
export type CodesOfClass<Class extends ErrorClass> = {
  [Code in ErrorCode]: (typeof codes)[Code]['class'] extends Class ? Code : never;
}[ErrorCode];

/** Codes that only ever accompany another reply. */
export type NoticeCode = { [Code in ErrorCode]: (typeof codes)[Code]['http'] extends null ? Code : never }[ErrorCode];
export type DeniedCode = Exclude<GovernanceCode, NoticeCode>;

export const noticeCodes = [
  'BUDGET_WARNING',
  'APPROVAL_EDITED',
  'EARLIER_RESULT',
  'RUNTIME_GAP',
] as const satisfies readonly NoticeCode[];
