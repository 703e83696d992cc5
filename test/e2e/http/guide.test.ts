/** Does the guide to the HTTP API tell the truth? Its tables are held against the tables of the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { doorProblems } from '../../../src/core/http/door-problems.ts';
import { httpRoutes, routeNames } from '../../../src/core/http/http-routes.ts';
import { codeIn, tableIn } from '../../support/read-docs.ts';

const guide = readFileSync(path.join(import.meta.dirname, '../../../docs/guides/http.md'), 'utf8');

const whoMay = {
  call: 'agent',
  look_own: 'all',
  look: 'operators',
  evaluate: 'operators',
  approve: 'approver',
  change_session: 'agent, admin',
  administer: 'admin',
  key: 'all',
} as const;

test('the guide lists every route, in the order of the code, with who may ask it and what it can be asked', () => {
  const rows = tableIn(guide, 'route');
  assert.deepEqual(
    rows.map(([route = '', who]) => [codeIn(route)[0], who]),
    routeNames.map((name) => {
      const { method, path: at, needs } = httpRoutes[name];
      return [`${method} ${at}`, needs === null ? 'anybody' : whoMay[needs]];
    }),
  );
  for (const [index, name] of routeNames.entries()) {
    const said = rows[index]?.[2] ?? '';
    const isStream = httpRoutes[name].answer === 'text/event-stream';
    if (name === 'createCall' || name === 'takeStep' || isStream) continue;
    for (const field of Object.keys(httpRoutes[name].query))
      assert.ok(codeIn(said).includes(field), `${name} ${field}`);
  }
});

test("the guide lists every problem of the door's own, with its status", () => {
  assert.deepEqual(
    tableIn(guide, 'problem').map(([code = '', status]) => [codeIn(code)[0], Number(status)]),
    Object.entries(doorProblems).map(([code, { status }]) => [code, status]),
  );
});
