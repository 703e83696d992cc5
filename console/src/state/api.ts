/** Asks the gateway: one function for every request, with one form for everything that can go wrong. */
import { consoleHeader } from '../../../src/core/http/console/console-header.ts';
import { signedOut } from './signed-out.ts';

export interface Problem {
  /** 0 if nobody answered. */
  readonly status: number;
  readonly code: string;
  /** A sentence that says what to do. */
  readonly detail: string;
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: Problem };

export const ourHeaders: Readonly<Record<string, string>> = { [consoleHeader]: '1', accept: 'application/json' };

const unreachableNow: Problem = {
  status: 0,
  code: 'unreachable',
  detail: 'the gateway does not answer: look whether it runs, and what it says where it was started',
};

export async function ask<Value>(
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer<Value>> {
  const sent =
    body === undefined
      ? { headers: ourHeaders }
      : { headers: { ...ourHeaders, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  try {
    const response = await fetch(path, { method, credentials: 'same-origin', signal: signal ?? null, ...sent });
    const value: unknown = await response.json();
    if (response.ok) return { ok: true, value: value as Value };
    const problem = problemIn(response.status, value);
    if (response.status === 401) signedOut(problem.detail);
    return { ok: false, problem };
  } catch (error) {
    if (signal?.aborted === true) return { ok: false, problem: { status: 0, code: 'aborted', detail: 'given up' } };
    // Not JSON: something other than the gateway answered.
    return { ok: false, problem: error instanceof SyntaxError ? notOurs : unreachableNow };
  }
}

const notOurs: Problem = { status: 0, code: 'stranger', detail: 'what answers at this address is not the gateway' };

function problemIn(status: number, value: unknown): Problem {
  const said = (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
  const detail = [said['detail'], said['message'], said['title']].find((each) => typeof each === 'string');
  const code = said['code'];
  return {
    status,
    code: typeof code === 'string' ? code : String(status),
    detail: typeof detail === 'string' ? detail : `it was answered with status ${status}`,
  };
}

export const get = <Value>(path: string, signal?: AbortSignal) => ask<Value>('GET', path, undefined, signal);
export const post = <Value>(path: string, body: unknown = {}) => ask<Value>('POST', path, body);

/** A path with a query; values that are null or empty are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null | undefined>>): string {
  const named = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return named.length === 0 ? path : `${path}?${new URLSearchParams(named).toString()}`;
}
