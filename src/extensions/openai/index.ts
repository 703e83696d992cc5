/** The extension that has providers of models which speak chat completions or responses: the kind `openai`. */
import { defineExtension } from '../../extension/index.ts';
import { openaiProtocol } from './openai-protocol.ts';

export const openai = defineExtension({
  name: 'openai',
  contract: 1,
  models: { openai: { protocol: openaiProtocol, url: 'https://api.openai.com/v1' } },
});
