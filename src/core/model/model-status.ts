/**
 * What status tells of a provider of models, as it is on the wire: whether it answers, what its models can do by the
 * file and by its own word, and what was used of it since the start. Pure.
 */
import type { DeclaredModel, ModelProvider } from './model-provider.ts';
import type { ListedModel } from './protocol.ts';

export interface ModelStatus {
  readonly name: string;
  readonly kind: string;
  /** `not_asked`: it lists no models, or was not asked yet. */
  readonly state: ModelState;
  /** Why it is not reachable; null if it is, or for somebody who may not know. */
  readonly problem: string | null;
  readonly models: readonly ModelReport[];
  readonly aliases: Readonly<Record<string, string>>;
  readonly used: ModelsUsed;
}

export const modelStates = ['reachable', 'not_reachable', 'not_asked'] as const;
export type ModelState = (typeof modelStates)[number];

export interface ModelReport {
  readonly name: string;
  /** By the file; null for a model that only the provider names. */
  readonly declared: ModelCapabilities | null;
  /** By the provider; null if it does not name the model. */
  readonly said: ModelCapabilities | null;
}

/** What is not known is null. */
export interface ModelCapabilities {
  readonly streaming: boolean | null;
  readonly tools: boolean | null;
  readonly context_tokens: number | null;
  readonly max_output_tokens: number | null;
}

/** Of calls that gave a whole answer, since the process began. */
export interface ModelsUsed {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Such as `1.25 USD`; null if no model of it has a price. */
  readonly cost: string | null;
}

export const nothingUsed: ModelsUsed = { calls: 0, input_tokens: 0, output_tokens: 0, cost: null };

/** How many models of a provider are told; some list hundreds. */
export const maxModelsTold = 100;

/** `said` null: it was not asked, or did not answer, which `problem` then says. */
export function modelStatusOf(
  { name, kind, declared }: Pick<ModelProvider, 'name' | 'kind' | 'declared'>,
  said: ReadonlyMap<string, ListedModel> | null,
  problem: string | null,
  used: ModelsUsed,
): ModelStatus {
  const written = new Map(declared.models.map((model) => [model.name, model]));
  const names = [...new Set([...written.keys(), ...(said ?? new Map<string, ListedModel>()).keys()])];
  return {
    name,
    kind,
    state: problem !== null ? 'not_reachable' : said === null ? 'not_asked' : 'reachable',
    problem,
    models: names.slice(0, maxModelsTold).map((model) => ({
      name: model,
      declared: capabilitiesOf(written.get(model)),
      said: capabilitiesOf(said?.get(model)),
    })),
    aliases: declared.aliases,
    used,
  };
}

function capabilitiesOf(model: ListedModel | DeclaredModel | undefined): ModelCapabilities | null {
  if (model === undefined) return null;
  const { streaming = null, tools = null, contextTokens = null, maxOutputTokens = null } = model;
  return { streaming, tools, context_tokens: contextTokens, max_output_tokens: maxOutputTokens };
}
