/** `recourse up` in front of local providers of models: a real process, a real key of an agent, real connections. */
import type { TestContext } from 'node:test';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type GovernedUp, startGoverned } from '../governed-up.ts';
import { folder } from '../recourse-process.ts';
import type { Place } from './clients.ts';
import { type Provider, startProvider } from './start-provider.ts';

export interface ModelsUp {
  readonly up: GovernedUp;
  readonly provider: Provider;
  /** Where clients find the gateway, and where they would find the provider. */
  readonly through: Place;
  readonly direct: Place;
}

/** As no provider has: what it refuses is told by it alone. */
export const providerKey = 'sk-planted-provider-key-000';

export interface ModelsUpOptions {
  /** Below the agent `bot`, indented by four. */
  readonly agent?: string;
  /** Of both providers, indented by four. */
  readonly declared?: string;
}

export async function startModelsUp(t: TestContext, options: ModelsUpOptions = {}): Promise<ModelsUp> {
  const { agent = 'rules: [{ permit: gpt/* }, { permit: claude/* }]', declared = 'retry: { retryable: false }' } =
    options;
  const provider = await startProvider(t, { keys: [providerKey] });
  const home = folder(t);
  writeFileSync(path.join(home, 'provider.key'), `${providerKey}\n`);
  const up = await startGoverned(
    t,
    `models:
  gpt:
    kind: openai
    url: ${provider.openai}
    ${declared}
  claude:
    kind: anthropic
    url: ${provider.anthropic}
    ${declared}
credentials:
  gpt:
    file: { path: ./provider.key }
    match: [gpt/*]
    inject: { header: Authorization, value: 'Bearer {secret}' }
  claude:
    file: { path: ./provider.key }
    match: [claude/*]
    inject: { header: x-api-key }
agents:
  bot:
    ${agent}
`,
    [],
    home,
  );
  await up.ready();
  return {
    up,
    provider,
    through: { openai: `${up.url}/v1`, anthropic: up.url, key: up.keyOf('bot') },
    direct: { openai: provider.openai, anthropic: provider.anthropic, key: providerKey },
  };
}
