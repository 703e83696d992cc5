/** Does the lock fit the configuration? Read with its problems; what one of them knows and the other does not is warned about. */
import { findLookAlikes } from '../core/values/look-alike.ts';
import { spellOut } from '../core/values/quote.ts';
import type { ServerConfig } from './config.ts';
import { type Lock, placeOfServer, readLock } from './lock.ts';
import type { ProblemList } from './problem.ts';

export interface LockText {
  readonly file: string;
  readonly text: string;
}

const pin = 'run recourse pin, and commit what it writes';

export function checkLock(given: LockText | null, servers: readonly ServerConfig[], list: ProblemList): Lock | null {
  if (given === null) return null;
  list.addSource(given.file, given.text);
  const { lock, problems, warnings } = readLock(given.text, given.file);
  for (const { message, fix, code, ...place } of problems) list.tell(place, message, fix, code);
  for (const { message, fix, ...place } of warnings) list.warn(place, message, fix);
  if (lock === null) return null;
  for (const { name, at: where } of servers)
    if (!lock.servers.has(name))
      list.warn(where, `the server '${name}' is not in ${given.file}: its tools are not known here`, pin);
  for (const server of lock.servers.keys())
    if (!servers.some(({ name }) => name === server))
      list.warn(placeOfServer(given.text, given.file, server), `there is no server '${server}' any more`, pin);
  const names = [...lock.servers].flatMap(([server, tools]) => [...tools.keys()].map((tool) => `${server}/${tool}`));
  for (const { name, says } of findLookAlikes(names)) {
    const at = placeOfServer(given.text, given.file, name.slice(0, name.indexOf('/')));
    list.warn(at, `the tool ${spellOut(name)} ${says}`, 'make sure that rules name the tool that is meant');
  }
  return lock;
}
