/** An extension: what a module exports as `extension`, or as its default. What it adds is data; `start` and `stop` are its life. */
import type { ModelKind } from '../core/model/model-provider.ts';
import type { JsonObject } from '../core/values/json.ts';
import type { Host } from './host.ts';
import type { CostFunction, CredentialKind, NotifierKind, UpstreamKind, ValidatorFunction } from './kinds.ts';

export interface Extension {
  /** 1 to 64 letters, digits, _ or -; by it others need it. */
  readonly name: string;
  /** The version of the contract that it is written for. */
  readonly contract: 1;
  /** Extensions that start before it, and stop after it. */
  readonly needs?: readonly string[];
  /** JSON Schema of its own settings in `extensions`; without it there are none. */
  readonly settings?: JsonObject;
  /** 10 and 5 seconds if not given. */
  readonly start_timeout_seconds?: number;
  readonly stop_timeout_seconds?: number;
  readonly upstreams?: Readonly<Record<string, UpstreamKind>>;
  /** Kinds of providers of models. */
  readonly models?: Readonly<Record<string, ModelKind>>;
  readonly credentials?: Readonly<Record<string, CredentialKind>>;
  readonly notifiers?: Readonly<Record<string, NotifierKind>>;
  readonly validators?: Readonly<Record<string, ValidatorFunction>>;
  readonly costs?: Readonly<Record<string, CostFunction>>;
  /** Before anything of it is used. What it returns is for the extensions that need it. */
  start?(host: Host): Promise<unknown> | unknown;
  /** When nothing of it is used any more. */
  stop?(): Promise<void> | void;
}

/** Gives an extension its types. Nothing runs. */
export const defineExtension = <const Given extends Extension>(extension: Given): Given => extension;
