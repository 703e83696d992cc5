/** The identity behind an API key: an agent, or a person with a role. Data only. */

/** What a key may do: call tools; look; decide approvals and look; everything but calling tools. */
export const keyRoles = ['agent', 'viewer', 'approver', 'admin'] as const;
export type KeyRole = (typeof keyRoles)[number];

/** Whose admins run the gateway itself: what is one for all tenants is theirs to change, and told to them. */
export const operatorTenant = 'default';

export interface Identity {
  readonly tenant: string;
  readonly role: KeyRole;
  /** The agent's name, or the operator's. */
  readonly name: string;
  /** Which key it was; null where no key is needed. */
  readonly keyId: string | null;
}

/** What may be asked at a door, and which roles may ask it. */
export const permissions = {
  call: ['agent'],
  /** Look at one's own calls and sessions. */
  look_own: ['agent', 'viewer', 'approver', 'admin'],
  /** Look at everything of the tenant. */
  look: ['viewer', 'approver', 'admin'],
  /** Ask what policy would say, of any agent of the tenant. */
  evaluate: ['viewer', 'approver', 'admin'],
  approve: ['approver', 'admin'],
  /** Reset, fork, complete, cancel and roll back, and reverse calls: an agent its own, an admin all of the tenant. */
  change_session: ['agent', 'admin'],
  /** Change policy, keys and calls in doubt. */
  administer: ['admin'],
} as const satisfies Record<string, readonly KeyRole[]>;

export type Permission = keyof typeof permissions;

export const may = ({ role }: Identity, permission: Permission): boolean =>
  (permissions[permission] as readonly KeyRole[]).includes(role);
