/** Asks a provider which models it has, and what it says of them. Never rejects. */
import type { ModelProvider } from '../../core/model/model-provider.ts';
import type { ListedModel } from '../../core/model/protocol.ts';
import type { Json } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import type { HideSecrets } from '../shared/http/hide-secrets.ts';
import { injectCredentials } from '../shared/http/inject-credentials.ts';
import type { HttpAnswer, HttpClient, HttpEnd } from '../shared/http/send-request.ts';
import { buildListRequest } from './build-request.ts';
import type { WireLimits } from './wire-limits.ts';

export type Listed =
  | { readonly ok: true; readonly models: readonly ListedModel[] }
  | { readonly ok: false; readonly problem: string };

/** Of one list; some servers have thousands. */
const maxListed = 10_000;

interface ListParts {
  readonly client: HttpClient;
  readonly hide: HideSecrets;
  readonly limits: WireLimits;
}

/** Null if the protocol has no list. */
export async function listModels(
  provider: ModelProvider,
  credentials: readonly CredentialHandle[],
  { client, hide, limits }: ListParts,
  signal: AbortSignal,
): Promise<Listed | null> {
  const { listing } = provider.protocol;
  if (listing === null) return null;
  const request = injectCredentials(buildListRequest(provider, listing.path), credentials);
  if (request === null) return { ok: false, problem: 'its credential is not available' };
  const sending = client.send(request, performance.now() + limits.maxSendDelayMs);
  const stop = () => sending.stop();
  signal.addEventListener('abort', stop, { once: true });
  const end = await sending.end;
  signal.removeEventListener('abort', stop);
  const problem = problemOf(end);
  if (problem !== null) return { ok: false, problem: hide(problem) };
  const body = bodyOf(end as HttpAnswer);
  if (body === null) return { ok: false, problem: 'its list of models is no JSON' };
  return { ok: true, models: listing.read(body).slice(0, maxListed) };
}

function problemOf(end: HttpEnd): string | null {
  switch (end.kind) {
    case 'answered':
      return end.status === 200 ? null : `it answered with HTTP status ${end.status}`;
    case 'unsent':
      return end.reason;
    case 'denied':
      return `the host '${end.host}' may not be reached`;
    case 'lost':
      return `its answer was lost: ${end.cause}`;
    case 'stopped':
      return 'it did not answer in time';
    default:
      return unreachable(end);
  }
}

function bodyOf({ body }: HttpAnswer): Json {
  try {
    return JSON.parse(body?.toString() ?? '') as Json;
  } catch {
    return null;
  }
}
