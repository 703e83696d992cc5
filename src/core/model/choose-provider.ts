/**
 * Which provider answers a request that names only a model, and which models an agent may name. Decides nothing: the
 * gates judge the call that follows. Pure.
 */
import type { Catalogue } from '../call/catalogue.ts';
import type { JsonObject } from '../values/json.ts';
import { type DeclaredModels, type ModelProvider, resolveModel } from './model-provider.ts';
import type { ListedModel, ModelOperation } from './protocol.ts';

export interface Chosen {
  readonly tool: string;
  readonly operation: ModelOperation;
  readonly args: JsonObject;
}

const declares = ({ models, aliases }: DeclaredModels, name: string): boolean =>
  Object.hasOwn(aliases, name) || models.some((model) => model.name === name);

/**
 * The first that declares the model or alias, or that is named before it as `provider/model`; else the first that has
 * the operation. Null if none has it.
 */
export function chooseProvider(
  providers: readonly ModelProvider[],
  operationName: string,
  args: JsonObject,
): Chosen | null {
  const having = providers.flatMap((provider) => {
    const { operations } = provider.protocol;
    const operation = Object.hasOwn(operations, operationName) ? operations[operationName] : undefined;
    return operation === undefined ? [] : [{ provider, operation, tool: `${provider.name}/${operationName}` }];
  });
  const [first] = having;
  if (first === undefined) return null;
  const model = first.operation.needs(args).model;
  const declaring = having.find(({ provider }) => model !== null && declares(provider.declared, model));
  if (declaring !== undefined || model === null) return { ...(declaring ?? first), args };
  const named = having.find(({ provider }) => model.startsWith(`${provider.name}/`));
  if (named === undefined) return { ...first, args };
  // Not by `withModel`, which asks for more than the client did. All operations of the doors name it so.
  return { ...named, args: { ...args, model: model.slice(named.provider.name.length + 1) } };
}

/** A model as a client names it. */
export interface UsableModel extends ListedModel {
  readonly id: string;
  readonly provider: string;
}

/**
 * `said`: what each provider says of its models, which counts where none is declared. `listed`: the tools of the agent.
 * Of models with the same name, the first has it, and others their provider's too.
 */
export function usableModels(
  providers: readonly ModelProvider[],
  said: ReadonlyMap<string, readonly ListedModel[]>,
  listed: Catalogue,
  permits: (model: string) => boolean,
): readonly UsableModel[] {
  const found = new Map<string, UsableModel>();
  for (const { name: provider, protocol, declared } of providers) {
    if (!Object.keys(protocol.operations).some((operation) => listed.has(`${provider}/${operation}`))) continue;
    const models = declared.models.length > 0 ? declared.models : (said.get(provider) ?? []);
    for (const name of [...models.map((model) => model.name), ...Object.keys(declared.aliases)]) {
      const resolved = resolveModel(declared, name);
      if (!permits(resolved)) continue;
      const id = found.has(name) ? `${provider}/${name}` : name;
      const known = models.find((model) => model.name === resolved) ?? { name: resolved };
      if (!found.has(id)) found.set(id, { ...known, id, provider });
    }
  }
  return [...found.values()];
}
