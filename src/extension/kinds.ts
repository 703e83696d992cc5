/** What an extension can add, each as data with a function that makes it. Types only. */
import type { Reach } from '../core/policy/policy.ts';
import type { EffectClass } from '../core/taxonomy.ts';
import type { Json, JsonObject } from '../core/values/json.ts';
import type { DeliverNotice } from '../ports/notice.ts';
import type { SecretProvider } from '../ports/secret-provider.ts';
import type { Upstream } from '../ports/upstream.ts';
import type { Validated } from '../ports/validator.ts';
import type { Host } from './host.ts';

/**
 * `settings` is a JSON Schema of what a file writes for one use of the kind. Without it there are none. Keys of its
 * properties that it does not list are refused, unless it says `additionalProperties`. A text with `writeOnly: true` is
 * a secret: it is masked wherever it shows up.
 */
interface Kind<Made> {
  readonly settings?: JsonObject;
  /** Synchronous: what has to wait does so in `start`, or when it is used. */
  create(settings: JsonObject, host: Host): Made;
}

/** Servers of this kind stand under `tools`: each has the tools that it declares here. */
export interface UpstreamKind extends Kind<ExtensionUpstream> {
  /** Known without starting anything. A function of the settings must only look at them. */
  readonly tools: readonly ToolDeclaration[] | ((settings: JsonObject) => readonly ToolDeclaration[]);
}

export interface ToolDeclaration {
  /** Without that of the server. An attempt names it so too. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, and of the result if it has a known shape. */
  readonly input: JsonObject;
  readonly output?: JsonObject;
  /** What a call does. `pure` and `keyed` may be sent again after a lost answer; the file may say otherwise. */
  readonly effect: EffectClass;
  /** For `keyed`: how long the upstream remembers `callId` as the key. */
  readonly dedupe_window_seconds?: number;
  readonly timeout_seconds?: number;
  readonly reach?: Reach;
  /** Where it sends to: rules over hosts then judge its calls before they are sent. */
  readonly url?: string;
}

export interface ExtensionUpstream extends Upstream {
  close?(): Promise<void> | void;
}

export type CredentialKind = Kind<SecretProvider>;
export type NotifierKind = Kind<DeliverNotice>;

/** Judges arguments that fit the schema of the tool, and may replace them: they are then checked again. */
export type ValidatorFunction = (args: Json, about: { readonly tool: string }) => Promise<Validated> | Validated;

export interface CostedCall {
  readonly args: Json;
  /** Null before the call: the budget then holds what this says, unless it has a `reserve`. */
  readonly result: Json;
  /** Before the call the most that a model can use; null for other tools. */
  readonly usage: Json;
}

/**
 * What a call costs: a number, or an amount such as `0.12 USD`. Pure and synchronous: it is asked while a call is
 * decided. If it throws, the call is denied.
 */
export type CostFunction = (call: CostedCall) => number | string;
