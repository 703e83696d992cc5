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
