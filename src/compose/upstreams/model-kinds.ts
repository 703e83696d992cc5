/** The kinds of providers of models that are known without extensions. */
import type { ModelKinds } from '../../core/model/model-provider.ts';

export const modelKinds: ModelKinds = new Map();
