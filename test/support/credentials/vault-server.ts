/**
 * A Vault for tests, exact to what its documentation says of the paths that the gateway uses: KV v2, a dynamic secret
 * with a lease, renewal, AppRole, errors. In memory; time passes by the clock of the test.
 */
import type { TestContext } from 'node:test';
import type { ServerResponse } from 'node:http';
import { type Api, type Heard, listenApi } from '../http/api.ts';

export interface VaultServer {
  readonly address: string;
  readonly token: string;
  readonly heard: Api['heard'];
  /** Writes a version of `secret/data/<path>`. */
  put(path: string, data: Readonly<Record<string, string>>): Promise<void>;
  /** A role whose tokens may read it. */
  approle(): Promise<{ readonly role_id: string; readonly secret_id: string }>;
  stop(): Promise<void>;
}

export interface OwnVault extends VaultServer {
  readonly role: { readonly role_id: string; readonly secret_id: string };
  /** Answers every request with this status from now on; null: as usual. */
  fail(status: number | null): void;
  /** `database/creds/reader` gives another password with each lease. */
  readonly leases: ReadonlyMap<string, { renewals: number }>;
  /** How often a lease can be renewed. */
  allowRenewals(count: number): void;
  revokeTokens(): void;
}

const leaseSeconds = 60;

export async function startOwnVault(t: Pick<TestContext, 'after'>): Promise<OwnVault> {
  const token = 'hvs.ownRootTokenOfTheTest';
  const role = { role_id: 'role-1', secret_id: 'secretid-0123456789' };
  const versions = new Map<string, { data: Readonly<Record<string, string>>; version: number }>();
  const leases = new Map<string, { renewals: number }>();
  const tokens = new Set([token]);
  let failing: number | null = null;
  let renewals = 1;
  let made = 0;

  const api = await listenApi(t, (request, response) => {
    if (failing !== null) return refuse(response, failing, [`planted words of an error ${token}`]);
    const path = request.url.replace(/^\/v1\//, '');
    if (path === 'auth/approle/login') return login(request, response);
    if (!tokens.has(String(request.headers['x-vault-token']))) return refuse(response, 403, ['permission denied']);
    if (path.startsWith('secret/data/')) return kv(path.slice('secret/data/'.length), request, response);
    if (path === 'database/creds/reader' && request.method === 'GET') return lease(response);
    if (path === 'sys/leases/renew' && request.method === 'PUT') return renew(request, response);
    return refuse(response, 404, [`no handler for route "${path}". route entry not found.`]);
  });

  function login({ body }: Heard, response: ServerResponse): void {
    const given = JSON.parse(body) as typeof role;
    if (given.role_id !== role.role_id || given.secret_id !== role.secret_id)
      return refuse(response, 400, ['invalid role or secret ID']);
    const clientToken = `hvs.approle${++made}`;
    tokens.add(clientToken);
    const auth = {
      client_token: clientToken,
      accessor: 'a',
      policies: ['default'],
      lease_duration: 3_600,
      renewable: true,
    };
    answer(response, { auth, data: null });
  }

  function kv(path: string, { method, body }: Heard, response: ServerResponse): void {
    const known = versions.get(path);
    if (method === 'POST' || method === 'PUT') {
      const { data } = JSON.parse(body) as { data: Record<string, string> };
      const version = (known?.version ?? 0) + 1;
      versions.set(path, { data, version });
      return answer(response, { data: metadataOf(version) });
    }
    if (known === undefined) return refuse(response, 404, []);
    answer(response, { data: { data: known.data, metadata: metadataOf(known.version) }, mount_type: 'kv' });
  }

  function lease(response: ServerResponse): void {
    const id = `database/creds/reader/lease${++made}`;
    leases.set(id, { renewals: 0 });
    const data = { username: `v-${made}`, password: `plantedLeasePassword${made}` };
    answer(response, { lease_id: id, renewable: true, lease_duration: leaseSeconds, data });
  }

  function renew({ body }: Heard, response: ServerResponse): void {
    const { lease_id: id } = JSON.parse(body) as { lease_id: string };
    const known = leases.get(id);
    if (known === undefined || known.renewals >= renewals)
      return refuse(response, 400, ['lease not found or lease is not renewable']);
    known.renewals++;
    answer(response, { lease_id: id, renewable: true, lease_duration: leaseSeconds, data: null });
  }

  return {
    address: api.url,
    token,
    role,
    heard: api.heard,
    leases,
    put: async (path, data) => {
      versions.set(path, { data, version: (versions.get(path)?.version ?? 0) + 1 });
    },
    approle: async () => role,
    fail: (status) => void (failing = status),
    allowRenewals: (count) => void (renewals = count),
    revokeTokens: () => {
      tokens.clear();
      tokens.add(token);
    },
    stop: api.stop,
  };
}

const metadataOf = (version: number) => ({
  created_time: '2026-05-18T00:00:00.000000000Z',
  custom_metadata: null,
  deletion_time: '',
  destroyed: false,
  version,
});

/** The fields that every answer of Vault has. */
function answer(response: ServerResponse, fields: object): void {
  const whole = {
    request_id: '0aed2fbc-6fe9-4d4b-9d4a-4a6e9f2f8f6e',
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data: null,
    wrap_info: null,
    warnings: null,
    auth: null,
    ...fields,
  };
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(whole)}\n`);
}

function refuse(response: ServerResponse, status: number, errors: readonly string[]): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify({ errors })}\n`);
}
