/** The extension that has providers of models which speak messages: the kind `anthropic`. */
import { defineExtension } from '../../extension/index.ts';
import { anthropicProtocol } from './anthropic-protocol.ts';

export const anthropic = defineExtension({
  name: 'anthropic',
  contract: 1,
  models: { anthropic: { protocol: anthropicProtocol, url: 'https://api.anthropic.com' } },
});
