/**
 * What do the servers that are connected list at this moment, and is that what recourse.lock says? A tool that differs from its lock
 * is told, and stops nothing: rules were written for what was pinned.
 */
import { type Lock, type LockedTool, lockName } from '../../config/lock.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Joined } from './join-upstreams.ts';
import type { LiveTools } from '../project/known-catalogue.ts';
import { lockedTool } from './list-servers.ts';

export function liveTools({ servers, catalogue }: Pick<Joined, 'servers' | 'catalogue'>): LiveTools {
  const states = servers?.status() ?? [];
  const connected = states.filter(({ state }) => state === 'connected').map(({ name }) => name);
  return { connected: new Set(connected), catalogue: catalogue() };
}

/** A sentence for each tool, by server and name. Servers that are away or were never pinned say nothing. */
export function driftFromLock(lock: Lock | null, { connected, catalogue }: LiveTools): readonly string[] {
  return [...(lock?.servers ?? [])]
    .filter(([server]) => connected.has(server))
    .flatMap(([server, pinned]) => {
      const listed = new Map(
        [...catalogue.values()]
          .filter(({ name }) => name.startsWith(`${server}/`))
          .map((entry) => [entry.name.slice(server.length + 1), lockedTool(entry)] as const),
      );
      return [...new Set([...pinned.keys(), ...listed.keys()])].toSorted().flatMap((tool) => {
        const says = difference(pinned.get(tool), listed.get(tool));
        return says === null ? [] : [`${server}/${tool} ${says}: look at it with recourse pin --check`];
      });
    });
}

function difference(was: LockedTool | undefined, is: LockedTool | undefined): string | null {
  if (was === undefined) return `is not in ${lockName}`;
  if (is === undefined) return `is in ${lockName}, and its server does not list it`;
  if (was.sha256 === is.sha256) return null;
  const parts = (['description', 'inputSchema', 'outputSchema', 'annotations'] as const).filter(
    (part) => canonicalText(was[part]) !== canonicalText(is[part]),
  );
  return `differs from ${lockName} (${parts.join(', ') || 'in what is not kept'})`;
}
