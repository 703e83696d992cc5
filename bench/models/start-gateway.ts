/** `recourse up` in front of a provider of models. */
import { startUp, type Up } from '../up/start-up.ts';

export const startGateway = (home: string, provider: string): Promise<Up> =>
  startUp(
    home,
    `models:
  gpt: { kind: openai, url: "${provider}/v1", timeout: 30s, models: { gpt-5: { context: 100000, max_output: 1000 } } }
agents:
  bench: { rules: [{ permit: gpt/* }] }
`,
  );
