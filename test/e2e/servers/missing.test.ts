/** A workflow that is bound to a tool that is not there when the gateway opens: what is told must be what is wrong. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { suite, test } from 'node:test';
import { createMachine } from 'xstate';
import { createGateway, mount, type ServerOptions } from '../../../src/index.ts';
import { folder } from '../../support/recourse-process.ts';

const child = path.join(import.meta.dirname, '../../support/upstream-child.ts');
const own = (name: string, mode: string): ServerOptions => ({
  name,
  command: process.execPath,
  args: [child, mode, ''],
});
const boundTo = (tool: string) =>
  mount(createMachine({ id: 'desk', initial: 'open', states: { open: { on: { go: 'open' } } } }), {
    actions: { go: { tool } },
  });

suite('a bound tool that is missing', { concurrency: 2 }, () => {
  const cases: readonly [string, string, readonly ServerOptions[], RegExp][] = [
    [
      'its server cannot be started',
      'away/echo',
      [{ name: 'away', command: './there-is-no-such-program' }, own('other', 'good')],
      /no tool 'away\/echo'; server 'away' is not connected: the command '.\/there-is-no-such-program' cannot be started: ENOENT$/,
    ],
    [
      'its server ended',
      'away/echo',
      [{ name: 'away', command: process.execPath, args: ['-e', 'process.exit(3)'] }, own('other', 'good')],
      /server 'away' is not connected: it ended by itself with exit code 3$/,
    ],
    [
      'its server lists it, and it cannot be offered',
      'odd/no_schema',
      [own('odd', 'odd')],
      /server 'odd' lists it, and it is left out: it has no input schema$/,
    ],
    ['its server does not have it', 'own/ecco', [own('own', 'good')], /there is no tool 'own\/ecco'; did you mean/],
    ['nobody has such a server', 'ownn/echo', [own('own', 'good')], /did you mean 'own\/echo'\?$/],
  ];
  for (const [what, tool, servers, told] of cases) {
    test(what, async (t) => {
      const file = path.join(folder(t), 'recourse.db');
      await assert.rejects(createGateway({ workflows: [boundTo(tool)], servers, file }), told);
    });
  }
});
