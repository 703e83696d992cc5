/**
 * Checks credentials against what is known without asking anybody: an injection that cannot work is a problem; one that
 * no tool uses, and one whose variable or file is missing here, is a warning, since both may come later.
 */
import { access } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import type { Place, Tell, Warn } from '../../config/problem.ts';
import type { WrittenCredential } from '../../config/read-credentials.ts';
import { connectionCredentials, isFor } from '../../core/credential/declared-credential.ts';
import type { Environment } from '../state/state-folder.ts';
import { pinnedTools } from './known-catalogue.ts';

export interface CheckParts {
  readonly tell: Tell;
  readonly warn: Warn;
  readonly env: Environment;
}

/** Paths in `config` are absolute. */
export async function checkCredentials(config: Config, { tell, warn, env }: CheckParts): Promise<void> {
  if (config.credentials.length === 0) return;
  const agents = new Set(config.agents.map(({ name }) => name));
  for (const credential of config.credentials) {
    const at = (key: 'name' | 'match' | 'inject' | 'source') => placeIn(credential, key);
    checkUse(credential, config, { tell, warn });
    const missing = await missingSource(credential, env);
    if (missing !== null)
      warn(at('source'), `the credential '${credential.name}' is missing: ${missing[0]}`, missing[1]);
    const stranger = config.policy === null ? undefined : credential.agents?.find((agent) => !agents.has(agent));
    if (stranger !== undefined)
      warn(
        at('name'),
        `the credential '${credential.name}' is for '${stranger}', and there is no such agent`,
        'correct the name',
      );
  }
}

const placeIn = ({ places }: WrittenCredential, key: 'name' | 'match' | 'inject' | 'source'): Place =>
  places.get(key) ?? { file: '', line: 1, column: 1 };

type Upstream = 'api' | 'models' | 'http' | 'stdio' | 'extension';

const canGo: Readonly<Record<Upstream, ReadonlySet<string>>> = {
  api: new Set(['header', 'query']),
  models: new Set(['header', 'query']),
  http: new Set(['header', 'meta']),
  stdio: new Set(['meta', 'env']),
  extension: new Set(['header', 'query', 'meta']),
};

const what: Readonly<Record<Upstream, string>> = {
  api: 'is an HTTP API, which takes header or query',
  models: 'is a provider of models, which takes header or query',
  http: 'is an MCP server at an address, which takes header or meta',
  stdio: 'is a program, which takes meta or env',
  extension: 'is of an extension, which takes header, query or meta',
};

function checkUse(
  credential: WrittenCredential,
  config: Config,
  { tell, warn }: Pick<CheckParts, 'tell' | 'warn'>,
): void {
  const { name, inject } = credential;
  const upstreams = [
    ...config.tools.map((server) => ({ name: server.name, kind: server.connect.kind as Upstream })),
    ...config.apis.map((api) => ({ name: api.name, kind: 'api' as Upstream })),
    ...config.hosted.map((hosted) => ({ name: hosted.name, kind: 'extension' as Upstream })),
    ...config.models.map((provider) => ({ name: provider.name, kind: 'models' as Upstream })),
  ];
  const tools = [...pinnedTools(config).keys()].filter((tool) => isFor(credential, tool));
  // The tools of a server that is not pinned are not known: a pattern for the server may fit one of them.
  const isKnown = (server: string) =>
    config.lock?.servers.has(server) === true ||
    [...config.apis, ...config.models, ...config.hosted].some(({ name: known }) => known === server);
  const used = upstreams.filter(({ name: server }) =>
    isKnown(server) ? tools.some((tool) => tool.startsWith(`${server}/`)) : reaches(credential, server),
  );
  // Without servers tools come from a program.
  if (used.length === 0 && upstreams.length > 0)
    warn(
      placeIn(credential, 'match'),
      `nobody uses the credential '${name}': no tool fits it`,
      'correct match, or leave it out',
    );
  for (const { name: server, kind } of used)
    if (!canGo[kind].has(inject.into))
      tell(
        placeIn(credential, 'inject'),
        `the credential '${name}' goes into ${inject.into}, and '${server}' ${what[kind]}`,
        'inject it where the server can take it, or leave the server out of match',
      );
}

/** By the first part of a pattern; whatever is injected. */
const reaches = (credential: WrittenCredential, server: string): boolean =>
  connectionCredentials([{ ...credential, agents: null, inject: { into: 'env', name: '' } }], server, true).length > 0;

async function missingSource(
  { source }: WrittenCredential,
  env: Environment,
): Promise<readonly [string, string] | null> {
  if (source.provider === 'env' && !Object.hasOwn(env, source.variable))
    return [`the environment has no ${source.variable}`, `set ${source.variable} before starting`];
  if (source.provider !== 'file') return null;
  try {
    await access(source.path);
    return null;
  } catch {
    return ['there is no such file, or it cannot be read', 'write it before starting'];
  }
}
