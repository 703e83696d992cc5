/** Gate 8: whether the agent's model policy allows the model. */
import { type Gate, pass } from './gate.ts';
import { modelRefusal } from '../policy/policy-refusal.ts';

export const model: Gate = {
  name: 'model',
  check(request, { policy }) {
    const agent = policy?.agent ?? null;
    if (agent === null || agent.permitsModel(request.model)) return pass;
    return { kind: 'refuse', refusal: modelRefusal(request.model) };
  },
  saw: (request, { policy }) => ({ model: request.model, allowed: policy?.agent?.written.models?.allow ?? null }),
};
