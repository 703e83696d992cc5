/**
 * The HTTP routes for clients of models, at the paths and in the words of their providers. Part of the table in
 * http-routes.ts. Data only.
 */
import { type HttpRoute, text } from './http-route.ts';

/** As Anthropic's client says that it wants features that are being tried. */
const beta = { kind: 'choice', of: ['true', 'false'] } as const;
/** The longest page that Anthropic's client can ask for. */
const maxModels = 1_000;

export const modelRoutes = {
  createChatCompletion: {
    method: 'POST',
    path: '/v1/chat/completions',
    needs: 'call',
    summary: "Asks a model, as OpenAI's chat completions.",
    query: {},
    body: 'ModelRequest',
    answer: 'ModelAnswer',
    errors: 'openai',
  },
  createResponse: {
    method: 'POST',
    path: '/v1/responses',
    needs: 'call',
    summary: "Asks a model, as OpenAI's responses.",
    query: {},
    body: 'ModelRequest',
    answer: 'ModelAnswer',
    errors: 'openai',
  },
  createMessage: {
    method: 'POST',
    path: '/v1/messages',
    needs: 'call',
    summary: "Asks a model, as Anthropic's messages.",
    query: { beta },
    body: 'ModelRequest',
    answer: 'ModelAnswer',
    errors: 'anthropic',
  },
  listModels: {
    method: 'GET',
    path: '/v1/models',
    needs: 'call',
    summary: 'The models that the agent may name, as the clients of both providers read them.',
    query: { beta, limit: { kind: 'count', max: maxModels }, after_id: text },
    body: null,
    answer: 'ModelList',
    errors: 'both',
  },
  readModel: {
    method: 'GET',
    path: '/v1/models/{id}',
    needs: 'call',
    summary: 'One of the models that the agent may name.',
    query: { beta },
    body: null,
    answer: 'ModelEntry',
    errors: 'both',
  },
} as const satisfies Record<string, HttpRoute>;
