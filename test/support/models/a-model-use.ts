/** A tool's use of models, as gates see it, without a provider. */
import type { ModelProblem, ModelUse } from '../../../src/core/model/model-use.ts';

/** Every request asks for this model. */
export const aModelUse = (model: string, problem: ModelProblem | null = null): ModelUse => ({
  nameIn: () => model,
  problemWith: () => problem,
});
