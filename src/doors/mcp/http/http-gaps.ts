/** Which exchanges over HTTP are gaps? Those whose headers contradict their message. The SDK judges that; here it is only seen. */
import { isObject } from '../../../core/values/json.ts';

const badRequest = 400;
/** The code that revision 2026-07-28 has for it. */
const headerMismatch = -32_020;

/** Whether the SDK has refused it for headers that say something else than the message, or are missing. */
export async function isMismatch(answer: Response): Promise<boolean> {
  if (answer.status !== badRequest || answer.headers.get('content-type')?.startsWith('application/json') !== true)
    return false;
  const said: unknown = await answer.clone().json();
  return isObject(said) && isObject(said['error']) && said['error']['code'] === headerMismatch;
}

/** What a message is about, for the record. */
export function aboutMessage(message: unknown): string {
  if (!isObject(message) || typeof message['method'] !== 'string') return 'a message';
  const { method, params } = message;
  const name = method === 'tools/call' && isObject(params) ? params['name'] : undefined;
  return typeof name === 'string' ? `${method} ${name}` : method;
}
