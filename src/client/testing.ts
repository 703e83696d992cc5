/**
 * The public API of `recourse-gateway/testing`: scripts what a gateway decides, for tests of agents. Pinned by
 * test/pins/exports.test.ts.
 */
export {
  budgetExceeded,
  completionBlocked,
  defer,
  deny,
  fail,
  invalidInput,
  lost,
  notAReply,
  notSent,
  pending,
  permit,
  reply,
  retryAfter,
  timeout,
  unknownEffect,
} from './testing/answers.ts';
export type { ScriptedAnswer } from './testing/answers.ts';
export type { ScriptedClock } from './testing/scripted-clock.ts';
export {
  createScriptedTransport,
  type Script,
  type ScriptedTransport,
  type ScriptOptions,
  UnscriptedCallError,
} from './testing/scripted-transport.ts';
// The classes of the client, the same ones: `instanceof` holds whichever entry they come from.
export { CallError } from './call-error.ts';
export { ToolDeniedError } from './tool-denied-error.ts';
