/** Where does a redirect point? As it may be shown to an operator: a query or a login can be secret. Must not follow it. */
const statuses: readonly number[] = [301, 302, 303, 307, 308];
const maxChars = 500;

/** Null: no redirect, or none to an address. */
export function readRedirect(status: number, location: string | null, from: string | URL): string | null {
  if (location === null || !statuses.includes(status)) return null;
  const to = URL.parse(location, String(from));
  if (to === null || (to.protocol !== 'http:' && to.protocol !== 'https:')) return null;
  return `${to.origin}${to.pathname}${to.search === '' ? '' : '?…'}`.slice(0, maxChars);
}
