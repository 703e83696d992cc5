/** The name in a Host header, for the doors that check by which name they are called. */

const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** The host without its port; null if it is malformed. */
export const nameIn = (host: string): string | null => hostHeader.exec(host)?.[1]?.toLowerCase() ?? null;
