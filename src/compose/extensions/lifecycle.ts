/**
 * Runs one step of an extension's life within its time limit: a start, or a stop. It may throw anything, or never end:
 * both are a typed failure with the name of the extension. Never rejects.
 */
import { messageOf, nameOf } from '../../adapters/upstream-function/describe-throw.ts';
import type { Clock } from '../../ports/clock.ts';
import { isExtensionFailure } from '../../extension/failure.ts';
import type { ErrorClass, ErrorCode } from '../../core/taxonomy.ts';

export interface LifecycleFault {
  readonly class: ErrorClass;
  readonly code: ErrorCode;
  readonly message: string;
}

export type Stepped =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: LifecycleFault };

export interface Step {
  readonly extension: string;
  readonly what: 'start' | 'stop';
  readonly timeoutMs: number;
  readonly run: () => unknown;
  /** Hears of an end that came after its time. */
  readonly onLate: (sentence: string, error: unknown) => void;
}

export async function runStep({ extension, what, timeoutMs, run, onLate }: Step, clock: Clock): Promise<Stepped> {
  const late = Promise.withResolvers<Stepped>();
  let isLate = false;
  // Not in the background: an extension that waits for nothing must not end the process.
  const cancel = clock.schedule(timeoutMs, () => {
    isLate = true;
    const message = `the extension '${extension}' did not ${what} within ${timeoutMs / 1_000} s`;
    late.resolve({ ok: false, fault: { class: 'ExtensionHost', code: 'LifecycleFailure', message } });
  });
  const ended = stepOf(extension, what, run).then((stepped) => {
    if (isLate)
      onLate(
        `the ${what} of the extension '${extension}' ended after its time`,
        stepped.ok ? 'it would have succeeded' : stepped.fault.message,
      );
    return stepped;
  });
  try {
    return await Promise.race([ended, late.promise]);
  } finally {
    cancel();
  }
}

async function stepOf(extension: string, what: Step['what'], run: () => unknown): Promise<Stepped> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    return { ok: false, fault: faultOf(extension, `threw in its ${what}`, error) };
  }
}

/** An error that was thrown by `host.fail` keeps its class and code. */
export function faultOf(extension: string, did: string, error: unknown): LifecycleFault {
  const message = `the extension '${extension}' ${did}: ${messageOf(error).slice(0, maxMessageChars)}`;
  if (isExtensionFailure(error)) return { class: error.errorClass, code: error.code, message };
  return { class: 'ExtensionHost', code: 'LifecycleFailure', message: `${message} (${nameOf(error)})` };
}

const maxMessageChars = 500;
