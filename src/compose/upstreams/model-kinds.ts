/** The kinds of providers of models that are known without extensions. */
import type { ModelKinds } from '../../core/model/model-provider.ts';
import { anthropicProtocol } from '../../extensions/anthropic/anthropic-protocol.ts';
import { openaiProtocol } from '../../extensions/openai/openai-protocol.ts';

export const modelKinds: ModelKinds = new Map([
  ['openai', { protocol: openaiProtocol, url: 'https://api.openai.com/v1' }],
  ['anthropic', { protocol: anthropicProtocol, url: 'https://api.anthropic.com' }],
]);
