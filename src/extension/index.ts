/** What authors of extensions import, as `recourse-gateway/extension`. Types and pure functions only. */
export type {
  ListedModel,
  ModelNeeds,
  ModelOperation,
  ModelProtocol,
  ProviderAnswer,
  ProviderEvent,
  ProviderFailure,
  StreamedText,
  StreamReader,
  TokenUsage,
} from '../core/model/protocol.ts';
export type { ErrorReply } from '../core/call/reply.ts';
export type { RetryRule } from '../core/recovery/playbook.ts';
export type { ErrorKind } from '../core/taxonomy.ts';
export type { Json, JsonObject } from '../core/values/json.ts';
