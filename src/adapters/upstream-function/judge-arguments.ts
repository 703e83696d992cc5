/**
 * What does an input schema make of the arguments? They are recorded, hashed and perhaps sent again after a restart, so what it
 * makes of them must survive as JSON. Never rejects.
 */
import type { Json } from '../../core/values/json.ts';
import type { Validated } from '../../ports/validator.ts';
import type { DeclaredSchema } from './declared-schema.ts';
import { findNotJson } from './find-not-json.ts';

export async function judgeArguments(schema: Pick<DeclaredSchema, 'judge'>, args: unknown): Promise<Validated> {
  // The schema may be code: what it writes to is a copy.
  const given = asJson(args, 'the caller');
  if (!given.ok) return given;
  const judgement = await schema.judge(given.args);
  return judgement.ok ? asJson(judgement.value, 'the input schema') : judgement;
}

/** `maker` is who made the value. */
export function asJson(value: unknown, maker: string): Validated {
  try {
    const found = findNotJson(value);
    // A copy of our own: whoever made the value may still hold it.
    if (found === null) return { ok: true, args: JSON.parse(JSON.stringify(value)) as Json };
    return refused(found.path, `a value that JSON can carry; ${maker} made ${found.what} of it`);
  } catch {
    return refused('', `a value that JSON can carry; what ${maker} made of it cannot be read`);
  }
}

function refused(path: string, expected: string): Validated {
  return { ok: false, errors: [{ path, expected, got: null }] };
}
