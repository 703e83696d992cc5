/**
 * Warns about what is written of models and can never count: models that no agent may ask for, with their aliases and
 * prices, model policies that permit none of them, and budgets that could not price a call. Asks nobody.
 */
import type { Config, ModelsConfig } from '../../config/config.ts';
import type { Place, Warn } from '../../config/problem.ts';
import type { Budget } from '../../core/budget/budget.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { DeclaredModel } from '../../core/model/model-provider.ts';
import type { AgentPolicy, Policy } from '../../core/policy/policy.ts';
import { policyTool } from '../../core/policy/rule-call.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { pinnedTools } from './known-catalogue.ts';

export function warnModels(config: Config, policy: Policy | null, warn: Warn): void {
  if (policy === null) return;
  const agents = [...policy.agents.values()];
  const entries = [...pinnedTools(config).values()];
  for (const provider of config.models) warnUnreached(provider, agents, entries, warn);
  for (const agent of agents) warnNonePermitted(agent, config, entries, warn);
  for (const agent of agents) warnUnpriced(agent, config, entries, warn);
}

const toolsOf = ({ name }: ModelsConfig, entries: readonly ToolEntry[]): readonly ToolEntry[] =>
  entries.filter((entry) => entry.name.startsWith(`${name}/`));

const mayCall = (agent: AgentPolicy, entries: readonly ToolEntry[]): boolean =>
  entries.some((entry) => agent.couldPermit(policyTool(entry)));

function warnUnreached(
  provider: ModelsConfig,
  agents: readonly AgentPolicy[],
  entries: readonly ToolEntry[],
  warn: Warn,
): void {
  const tools = toolsOf(provider, entries);
  const callers = agents.filter((agent) => mayCall(agent, tools));
  const { models, aliases } = provider.declared;
  for (const { name, price } of models) {
    if (callers.some((agent) => agent.permitsModel(name))) continue;
    const named = Object.keys(aliases).filter((alias) => aliases[alias] === name);
    const also = [
      ...(named.length === 0 ? [] : [`its alias ${named.join(', ')}`]),
      ...(price === undefined ? [] : ['its price']),
    ];
    const idle = also.length === 0 ? '' : `; ${also.join(' and ')} can never count`;
    warn(
      provider.places.get(`model ${name}`) ?? provider.at,
      `no agent may ask '${provider.name}' for the model '${name}'${idle}`,
      'permit a tool of the provider and the model in model_policy, or leave the model out',
    );
  }
}

function warnNonePermitted(agent: AgentPolicy, { models, agents }: Config, entries: readonly ToolEntry[], warn: Warn) {
  const { written } = agent;
  if (written.models === null) return;
  const reached = models.filter((provider) => mayCall(agent, toolsOf(provider, entries)));
  const names = reached.flatMap(({ declared }) => declared.models.map(({ name }) => name));
  // A provider without declared models serves any.
  if (names.length === 0 || reached.some(({ declared }) => declared.models.length === 0)) return;
  if (names.some((name) => agent.permitsModel(name))) return;
  warn(
    placeAt(written.agent, written.models.ref, agents),
    `the model_policy of '${written.agent}' permits none of the declared models that its rules reach`,
    `add one of ${names.join(', ')}`,
  );
}

/** Only where each call is held at the most that it can use: a reserve needs no price. */
function warnUnpriced(agent: AgentPolicy, config: Config, entries: readonly ToolEntry[], warn: Warn): void {
  for (const entry of entries.filter((each) => mayCall(agent, [each])))
    for (const budget of agent.budgetsFor(entry.policyName)) {
      if (budget.price === null || budget.written.reserve !== null) continue;
      const at = placeAt(agent.written.agent, budget.written.ref, config.agents);
      if (entry.metered === undefined)
        warn(
          at,
          `budget ${budget.written.name} denies every call of ${entry.policyName}: it is not metered`,
          'add reserve, or a match that leaves the tool out',
        );
      else for (const model of unpricedModels(budget, entry, config)) warn(at, ...unpriced(budget, entry, model));
    }
}

const unpriced = ({ written }: Budget, { policyName }: ToolEntry, model: string) =>
  [
    `budget ${written.name} denies every call of ${policyName} for the model '${model}': it has no price in ${written.max.unit}`,
    'add its price, or a reserve to the budget',
  ] as const;

/** INVARIANT: claims only what the price decides: with one, the same call could be told. */
function unpricedModels(budget: Budget, entry: ToolEntry, { models }: Config): readonly string[] {
  const provider = models.find(({ name }) => entry.name.startsWith(`${name}/`));
  const isTold = (args: Json, usage: JsonObject) => budget.hold({ nowMs: 0, args }, () => usage).ok;
  return (provider?.declared.models ?? []).flatMap((model) => {
    const args = { model: model.name };
    const priced = { ...counted, cost: `1 ${budget.written.max.unit}` };
    return isTold(args, priced) && !isTold(args, sampleOf(model)) ? [model.name] : [];
  });
}

const counted = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

const sampleOf = ({ price }: DeclaredModel): JsonObject =>
  price === undefined ? counted : { ...counted, cost: `1 ${price.currency}` };

/** `ref`: `file:line`, by the line alone where the file is that of the agent. */
function placeAt(agent: string, ref: string, agents: Config['agents']): Place {
  const [, line = '1'] = /:(\d+)$/.exec(ref) ?? [];
  const file = agents.find(({ name }) => name === agent)?.at.file ?? ref.replace(/:\d+$/, '');
  return { file, line: Number(line), column: 1 };
}
