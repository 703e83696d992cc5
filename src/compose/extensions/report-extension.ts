/** Writes the state of an extension for operators, as the body of `GET /v1/status` has it. */
import { additions } from '../../core/extension/extension-shape.ts';
import type { ExtensionState } from './start-extensions.ts';

/** One word for each thing that it adds. */
const words = {
  upstreams: 'upstream',
  models: 'model',
  credentials: 'credential',
  notifiers: 'notifier',
  validators: 'validator',
  costs: 'cost',
} as const;

export const reportExtension = ({ name, contract, state, problem, needs, adds, builtIn }: ExtensionState) => ({
  name,
  contract,
  state,
  code: problem?.code ?? null,
  problem: problem?.message ?? null,
  needs,
  adds: additions.flatMap((addition) => adds[addition].map((kind) => `${words[addition]} ${kind}`)),
  built_in: builtIn,
});
