/** The HTTP routes by which a browser signs in to the console. Part of the table in http-routes.ts. Data only. */
import type { HttpRoute } from '../http-route.ts';

export const consoleRoutes = {
  createConsoleLink: {
    method: 'POST',
    path: '/v1/console/links',
    needs: 'look',
    summary: 'Makes a link that opens the console once, with the role of the key that asks.',
    query: {},
    body: 'Nothing',
    answer: 'ConsoleLink',
  },
  signIn: {
    method: 'POST',
    path: '/v1/console/session',
    needs: null,
    summary: 'Exchanges the code of a link, or the key of a person, for a cookie.',
    query: {},
    body: 'SignInRequest',
    answer: 'ConsoleSession',
  },
  readConsoleSession: {
    method: 'GET',
    path: '/v1/console/session',
    needs: 'key',
    summary: 'Who asks, and what they may do.',
    query: {},
    body: null,
    answer: 'ConsoleSession',
  },
  signOut: {
    method: 'POST',
    path: '/v1/console/session/end',
    needs: 'key',
    summary: 'Ends the session of the cookie.',
    query: {},
    body: 'Nothing',
    answer: 'SignedOut',
  },
} as const satisfies Record<string, HttpRoute>;
