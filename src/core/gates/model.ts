/**
 * Gate 8: whether the agent's model policy allows the model that asks, and the one that the arguments of a model's tool
 * ask for; and whether that can answer such a request. Each call is judged by itself, so a session may switch.
 */
import type { Request } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import type { ToolEntry } from '../call/catalogue.ts';
import type { ModelProblem, ModelUse } from '../model/model-use.ts';
import { modelRefusal } from '../policy/policy-refusal.ts';
import { unreachable } from '../values/unreachable.ts';
import { argumentsIn, type Facts } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';
import { invalidInput } from './invalid-input.ts';

/** How many models a refusal names. */
const maxNamed = 20;

export const model: Gate = {
  name: 'model',
  check(request, facts) {
    const agent = facts.policy?.agent ?? null;
    // Whoever asks a model need not be one: then the arguments alone say which model it is about.
    const isUnsaid = request.model === null && modelsOf(request, facts) !== null;
    if (agent !== null && !isUnsaid && !agent.permitsModel(request.model)) return refuse(modelRefusal(request.model));
    return askedModel.check(request, facts, []);
  },
  saw(request, facts) {
    const found = modelsOf(request, facts);
    const allowed = facts.policy?.agent?.written.models?.allow ?? null;
    if (found === null) return { model: request.model, allowed };
    const args = argumentsIn(request, facts);
    const problem = found.models.problemWith(args, permitted(facts));
    const lacks = problem === null ? null : problem.kind === 'lacks' ? problem.code : problem.kind;
    return { model: request.model, allowed, asked: found.models.nameIn(args), lacks };
  },
};

/** What of it can be asked again before a resend: which model sent the request is not on record, its arguments are. */
export const askedModel: Gate = {
  name: 'model',
  check(request, facts) {
    const found = modelsOf(request, facts);
    if (found === null) return pass;
    const { models, entry } = found;
    const args = argumentsIn(request, facts);
    const asked = models.nameIn(args);
    if (!permitted(facts)(asked)) return refuse(modelRefusal(asked));
    const problem = models.problemWith(args, permitted(facts));
    return problem === null ? pass : refuse(refusalOf(entry.policyName, problem));
  },
  saw: () => ({}),
};

interface Found {
  readonly models: ModelUse;
  readonly entry: ToolEntry;
}

function modelsOf({ tool }: Request, { catalogue }: Facts): Found | null {
  const entry = catalogue.get(tool);
  return entry?.models === undefined ? null : { models: entry.models, entry };
}

const permitted =
  ({ policy }: Facts) =>
  (name: string | null): boolean =>
    policy?.agent?.permitsModel(name) ?? true;

const refuse = (refusal: Refusal): GateAnswer => ({ kind: 'refuse', refusal });

function refusalOf(tool: string, problem: ModelProblem): Refusal {
  switch (problem.kind) {
    case 'undeclared': {
      const expected = `one of the declared models: ${listed(problem.known)}`;
      return invalidInput(tool, [{ path: '/model', expected, got: problem.model }]);
    }
    case 'lacks':
      return lacking(tool, problem);
    default:
      return unreachable(problem);
  }
}

function lacking(tool: string, { code, says, qualified }: Extract<ModelProblem, { kind: 'lacks' }>): Refusal {
  const reason =
    qualified.length === 0
      ? 'none of the configured models that are permitted can answer this request'
      : `ask one of the models that can: ${listed(qualified)}`;
  return {
    error: 'action_error',
    class: 'ProviderCapability',
    code,
    message: `action '${tool}' was not carried out: ${says}`,
    resolution: { type: 'replan', reason },
    error_type: code,
    error_message: says,
    verdict: 'invalid_request',
    compensation: null,
    outcome: null,
  };
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none is permitted';
  const more = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
