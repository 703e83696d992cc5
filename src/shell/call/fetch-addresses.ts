/** Fetches what names of hosts resolve to, within the time limit of a fact. A name without an answer has no address. */
import type { HostAddresses } from '../../core/gates/facts.ts';
import type { Shell } from '../shell.ts';

export async function fetchAddresses(hosts: readonly string[], shell: Shell): Promise<readonly HostAddresses[]> {
  const { clock, resolver } = shell.ports;
  let takeBack = (): void => undefined;
  const late = new Promise<null>((resolve) => {
    takeBack = clock.schedule(shell.limits.factTimeoutMs, () => resolve(null));
  });
  const found = await Promise.all(
    hosts.map(async (host) => {
      const resolved = await Promise.race([resolver.resolve(host), late]);
      return { host, addresses: resolved?.ok === true ? resolved.addresses : [] };
    }),
  );
  takeBack();
  return found;
}
