/** The error by which an extension says what failed, by class and code. An error thrown so keeps both. */
import type { CodesOfClass, ErrorClass, ErrorCode } from '../core/taxonomy.ts';

/** Throws: what failed, by its class and one of the codes of that class. */
export type Fail = <Class extends ErrorClass>(
  errorClass: Class,
  code: CodesOfClass<Class>,
  message: string,
  cause?: unknown,
) => never;

// A registered symbol, so that an error of another copy of this module is recognised.
const mark = Symbol.for('recourse.extension_failure');

export class ExtensionFailure extends Error {
  readonly [mark] = true;
  override readonly name = 'ExtensionFailure';
  readonly errorClass: ErrorClass;
  readonly code: ErrorCode;

  constructor(errorClass: ErrorClass, code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.errorClass = errorClass;
    this.code = code;
  }
}

/** Never throws: the value may be a proxy that throws when it is read. */
export function isExtensionFailure(error: unknown): error is ExtensionFailure {
  try {
    return error instanceof Error && mark in error;
  } catch {
    return false;
  }
}
