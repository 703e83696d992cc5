/**
 * Combines the providers of models into one upstream and one catalogue. What a provider says of its models is asked in
 * the background: the file alone must do to serve it.
 */
import type { ModelUpstream } from '../../adapters/upstream-model/model-upstream.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import { type ModelStatus, modelStatusOf } from '../../core/model/model-status.ts';
import type { ListedModel } from '../../core/model/protocol.ts';
import { entriesOf } from '../../core/model/provider-tools.ts';
import type { Resolver } from '../../ports/resolver.ts';
import type { Upstream } from '../../ports/upstream.ts';
import { askRegularly, type AskTimes } from './ask-regularly.ts';
import { countUse } from './count-use.ts';
import type { JoinedCredentials } from './join-credentials.ts';

export interface JoinedModels {
  readonly catalogue: Catalogue;
  /** Null for a tool of somebody else. */
  upstreamOf(tool: string): Upstream | null;
  models(): readonly ModelStatus[];
  close(): Promise<void>;
}

const none: JoinedModels = {
  catalogue: new Map(),
  upstreamOf: () => null,
  models: () => [],
  close: async () => undefined,
};

/** How often a provider is asked what models it has. */
const listTimes: AskTimes = { timeoutMs: 10_000, everyMs: 60 * 60_000, againMs: 60_000 };

export interface ModelParts {
  readonly resolver: Resolver;
  readonly credentials: Pick<JoinedCredentials, 'connectWith'> | undefined;
  readonly times?: AskTimes;
}

export async function joinModels(providers: readonly ModelProvider[], parts: ModelParts): Promise<JoinedModels> {
  if (providers.length === 0) return none;
  // Loaded only if there is something to send.
  const { createModelUpstream } = await import('../../adapters/upstream-model/model-upstream.ts');
  const joined = providers.map((provider) => join(provider, createModelUpstream(provider, parts), parts));
  const catalogue = new Map(joined.flatMap(({ entries }) => [...entries]));
  return {
    catalogue,
    upstreamOf: (tool) => joined.find(({ entries }) => entries.has(tool))?.upstream ?? null,
    models: () => joined.map(({ status }) => status()),
    close: async () => void (await Promise.all(joined.map((each) => each.close()))),
  };
}

function join(provider: ModelProvider, made: ModelUpstream, { credentials, times = listTimes }: ModelParts) {
  let said: ReadonlyMap<string, ListedModel> | null = null;
  let problem: string | null = null;
  const entries = entriesOf(provider, () => said ?? new Map());
  const counted = countUse(made.upstream, (tool) => entries.get(tool));

  /** A failure is a status and nothing else: what was said before still holds. */
  async function ask(signal: AbortSignal): Promise<boolean> {
    const server = { name: provider.name, connect: { kind: 'http' } } as const;
    const secrets = (await credentials?.connectWith(server, [])) ?? { ok: true, handles: [] };
    const listed = secrets.ok
      ? await made.list(secrets.handles, signal)
      : { ok: false as const, problem: secrets.lacks.reason };
    if (listed?.ok === true) said = new Map(listed.models.map((model) => [model.name, model]));
    problem = listed?.ok === false ? listed.problem : null;
    return listed?.ok !== false;
  }

  const asking = askRegularly(ask, times);
  return {
    entries,
    upstream: counted.upstream,
    status: () => modelStatusOf(provider, said, problem, counted.used()),
    async close() {
      await asking.close();
      await made.close();
    },
  };
}
