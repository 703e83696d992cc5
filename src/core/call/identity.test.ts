/** Who may do what, typed out: a change here changes what keys that are in use can do. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { tableIn } from '../../../test/support/read-docs.ts';
import { type Identity, keyRoles, may, type Permission, permissions } from './identity.ts';

const table: Readonly<Record<Permission, readonly string[]>> = {
  call: ['agent'],
  look_own: ['agent', 'viewer', 'approver', 'admin'],
  look: ['viewer', 'approver', 'admin'],
  evaluate: ['viewer', 'approver', 'admin'],
  approve: ['approver', 'admin'],
  change_session: ['agent', 'admin'],
  administer: ['admin'],
};

const holding = (role: Identity['role']): Identity => ({ tenant: 't', role, name: 'n', keyId: null });

describe('roles and what they may do', () => {
  test('these are the roles, and these the permissions', () => {
    assert.deepEqual([...keyRoles], ['agent', 'viewer', 'approver', 'admin']);
    assert.deepEqual(permissions, table);
  });

  for (const role of keyRoles)
    for (const [permission, roles] of Object.entries(table) as [Permission, readonly string[]][]) {
      const allowed = roles.includes(role);
      test(`a ${role} ${allowed ? 'may' : 'may not'} ${permission}`, () =>
        assert.equal(may(holding(role), permission), allowed));
    }

  test('the guide says the same', () => {
    const guide = readFileSync(new URL('../../../docs/guides/identity.md', import.meta.url), 'utf8');
    const said = Object.fromEntries(tableIn(guide, 'role').map(([role = '', ...cells]) => [role, cells]));
    const held = keyRoles.map((role) => [
      `\`${role}\``,
      Object.values(table).map((roles) => (roles.includes(role) ? 'yes' : '')),
    ]);
    assert.deepEqual(said, Object.fromEntries(held));
  });

  test('nobody who calls tools decides about them, and nobody who decides calls them', () => {
    const deciding = [...permissions.approve, ...permissions.administer] as readonly string[];
    assert.deepEqual(
      permissions.call.filter((role) => deciding.includes(role)),
      [],
    );
  });
});
