/** Which names in a JSON value are not snake_case? Values of users are left alone: their names are theirs. */
import { isObject } from '../../src/core/values/json.ts';

/** Below these stand arguments, results, states and schemas, and maps by names of users. */
const ofUsers: ReadonlySet<string> = new Set([
  'args',
  'context',
  'edited_args',
  'got',
  'input_schema',
  'inputs',
  'next_action_schemas',
  'result',
  'roles',
  'state',
]);

export function camelKeys(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => camelKeys(item, `${path}/${index}`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(/^[a-z][a-z0-9_]*$/.test(name) ? [] : [`${path}/${name}`]),
    ...(ofUsers.has(name) ? [] : camelKeys(member, `${path}/${name}`)),
  ]);
}
