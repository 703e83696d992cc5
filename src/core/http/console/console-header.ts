/** What the console and the HTTP door agree on when a browser signs in. Data only. */

/**
 * Every request of the console carries this header. A page of another origin cannot send it without asking first, and
 * is never told yes: the cookie alone opens nothing.
 */
export const consoleHeader = 'recourse-console';

/** Where the console reads the code of a link. Behind the `#`, so that it is in no log and in no Referer. */
export const linkPath = (code: string): string => `/#/signin/${code}`;
