/** The kinds of providers of models that ship with the gateway, as extensions add them. */
import type { ModelKinds } from '../../../src/core/model/model-provider.ts';
import { anthropic } from '../../../src/extensions/anthropic/index.ts';
import { openai } from '../../../src/extensions/openai/index.ts';

export const modelKinds: ModelKinds = new Map(Object.entries({ ...openai.models, ...anthropic.models }));
