/**
 * All names of the wire in one place, each with its texts. Documentation, schemas and types are generated from it.
 * Must not hold entries of its own.
 */
import { callStates } from './taxonomy/call-states.ts';
import { classes } from './taxonomy/classes.ts';
import { codes } from './taxonomy/codes.ts';
import { compensations, dispatchOutcomes } from './taxonomy/compensations.ts';
import { effectClasses, effects } from './taxonomy/effects.ts';
import { errors } from './taxonomy/errors.ts';
import { kinds } from './taxonomy/kinds.ts';
import { resolutions } from './taxonomy/resolutions.ts';
import { verdicts } from './taxonomy/verdicts.ts';

export const taxonomy = {
  errors,
  classes,
  codes,
  kinds,
  verdicts,
  resolutions,
  compensations,
  dispatchOutcomes,
  effectClasses,
  effects,
  callStates,
} as const;

export { callStates, legalTransitions } from './taxonomy/call-states.ts';
export { classes } from './taxonomy/classes.ts';
export { codes, noticeCodes } from './taxonomy/codes.ts';
export { compensations, dispatchOutcomes } from './taxonomy/compensations.ts';
export { effectClasses, effects } from './taxonomy/effects.ts';
export { errors } from './taxonomy/errors.ts';
export { kinds } from './taxonomy/kinds.ts';
export { resolutions } from './taxonomy/resolutions.ts';
export { verdicts } from './taxonomy/verdicts.ts';

export type { CallStart, CallState } from './taxonomy/call-states.ts';
export type { ErrorClass } from './taxonomy/classes.ts';
export type { ClassOfCode, CodesOfClass, DeniedCode, ErrorCode, GovernanceCode, NoticeCode } from './taxonomy/codes.ts';
export type { Compensation, CompensationKind, DispatchOutcome, DispatchOutcomeKind } from './taxonomy/compensations.ts';
export type { Effect, EffectClass } from './taxonomy/effects.ts';
export type { Entry } from './taxonomy/entry.ts';
export type { ClassOfError, CodeOfError, EffectOfError, EffectRule, ErrorName } from './taxonomy/errors.ts';
export type { Fields, FieldType } from './taxonomy/fields.ts';
export type { ErrorKind, ErrorSubject, ToolError } from './taxonomy/kinds.ts';
export type { Resolution, ResolutionType } from './taxonomy/resolutions.ts';
export type { Verdict } from './taxonomy/verdicts.ts';
