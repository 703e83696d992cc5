/** What authors of extensions import, as `recourse-gateway/extension`. Types and pure functions only. */
export { contractVersion } from '../core/extension/extension-shape.ts';
export { spellOut } from '../core/values/quote.ts';
export { failed, lifetimeOf, provided } from '../ports/secret-provider.ts';
export { makeFailure } from '../ports/upstream.ts';
export { defineExtension } from './extension.ts';
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
export type { FieldError } from '../core/call/catalogue.ts';
export type { Effect, EffectClass, ErrorClass, ErrorCode, ErrorKind, ErrorSubject } from '../core/taxonomy.ts';
export type { Json, JsonObject } from '../core/values/json.ts';
export type { CredentialHandle } from '../ports/credentials.ts';
export type { Delivered, DeliverNotice, Notice, ToldEvent } from '../ports/notice.ts';
export type { Provided, ProvidedSecret, SecretProvider } from '../ports/secret-provider.ts';
export type {
  Attempt,
  Failure,
  HearLate,
  ItemFailure,
  Relay,
  StreamEvent,
  Upstream,
  UpstreamResult,
} from '../ports/upstream.ts';
export type { Validated } from '../ports/validator.ts';
export type { Extension } from './extension.ts';
export type { Fail } from './failure.ts';
export type { Host, HostAnswer, HostHttp, HostRequest } from './host.ts';
export type {
  CostedCall,
  CostFunction,
  CredentialKind,
  ExtensionUpstream,
  NotifierKind,
  ToolDeclaration,
  UpstreamKind,
  ValidatorFunction,
} from './kinds.ts';
export type { ErrorReply } from '../core/call/reply.ts';
export type { ModelKind } from '../core/model/model-provider.ts';
export type { RetryRule } from '../core/recovery/playbook.ts';
