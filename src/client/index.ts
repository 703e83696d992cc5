/**
 * The public API of `recourse-gateway/client`: runs wherever there is `fetch`, and needs nothing else. Pinned by
 * test/pins/exports.test.ts.
 */
export { CallError, type ClientFault } from './call-error.ts';
export {
  type CallDefaults,
  type CallOptions,
  type Client,
  type ClientBounds,
  type ClientOptions,
  createClient,
} from './create-client.ts';
export { type GovernOptions, governTools } from './tools/govern-tools.ts';
export { type HttpOptions, httpTransport } from './transport/http-transport.ts';
export { type InProcessGateway, type InProcessOptions, inProcessTransport } from './transport/in-process-transport.ts';
export { type LocalOptions, type LocalSettings, type LocalTool, localTools } from './tools/local-tools.ts';
export type { Naming } from './tools/name-tools.ts';
export { type Refusal, refusalOf, tellModel } from './refusal-of.ts';
export type { Resolution, ResolutionOf } from './resolution.ts';
export { ToolDeniedError } from './tool-denied-error.ts';
export { type AiSdkTool, type AnyTool, type OpenAiTool, type PlainTool, remote } from './tools/tool-shapes.ts';
export type { Answer, Pause, Transport, WireCall } from './transport/transport.ts';
export type { ApprovalView } from '../core/approval/approval-view.ts';
export type { ErrorReply, PendingReply, Reply, SuccessReply } from '../core/call/reply.ts';
