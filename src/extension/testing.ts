/** What authors of extensions test with, as `recourse-gateway/extension/testing`: the contracts that theirs must keep. */
export { aHost, type HostForTests } from './proves/a-host.ts';
export { aNotice } from './proves/a-notice.ts';
export { attemptOf } from './proves/attempt-of.ts';
export { eventually } from './proves/eventually.ts';
export { type CredentialsHarness, provesCredentials, type StagedSecret } from './proves/proves-credentials.ts';
export { type NotifierHarness, provesNotifier, type Receiving, type StagedNotifier } from './proves/proves-notifier.ts';
export { testHttp } from './proves/test-http.ts';
export { type ProtocolHarness, type ProtocolSample, provesProtocol } from './proves/proves-protocol.ts';
export { type Fault, planted, provesUpstream, type Stage, type UpstreamHarness } from './proves/proves-upstream.ts';
