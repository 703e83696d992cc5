/**
 * Connects the extensions of a gateway to its parts. Those of a program are started here, and stop with the gateway;
 * those of a process that serves are started and stopped by it.
 */
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { SuppressedNotice } from '../../core/values/suppressed.ts';
import type { Extension } from '../../extension/extension.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { SecretHider } from '../serve/secret-hider.ts';
import type { Behind, Joined } from '../upstreams/join-upstreams.ts';
import type { Hosted } from './hosted-tools.ts';
import type { ExtensionState, Running } from './start-extensions.ts';
import { settingsSecrets, startForProgram } from './use-extensions.ts';
import { validateTools, type ValidatorOf } from './validate-tools.ts';

/** A server of a kind that an extension adds, as a program declares it. */
export interface UpstreamOptions {
  readonly kind: string;
  readonly settings?: JsonObject;
  readonly timeout_seconds?: number;
}

export interface ProgramExtensions {
  /** What `defineExtension` returned. */
  readonly extensions?: readonly Extension[];
  /** Servers of the kinds that they add, by name. */
  readonly upstreams?: Readonly<Record<string, UpstreamOptions>>;
}

export interface ExtensionOptions extends ProgramExtensions {
  readonly credentials?: readonly DeclaredCredential[];
  /** Of a configuration. */
  readonly hosted?: readonly Hosted[];
  readonly validatorOf?: ValidatorOf;
  readonly running?: Running;
}

export interface OpenExtensions {
  readonly running: Running;
  extensions(): readonly ExtensionState[];
  /** Makes the upstreams with what extensions add. Closing them stops the extensions of a program, as does a failure. */
  join(make: (more: Pick<Behind, 'hosted' | 'running' | 'validating'>) => Promise<Joined>): Promise<Joined>;
  completing(complete: (tool: ToolEntry) => ToolEntry): (tool: ToolEntry) => ToolEntry;
  hideWith(hider: SecretHider): void;
  tell(notify: Notifier, record: (notice: SuppressedNotice) => void): void;
}

export async function openExtensions(
  options: ExtensionOptions,
  clock: Clock,
  notify: Notifier,
  dns?: readonly string[],
): Promise<OpenExtensions> {
  const hosted = [...(options.hosted ?? []), ...hostedOf(options.upstreams)];
  const settled = { credentials: options.credentials ?? [], hosted };
  const running = options.running ?? (await startForProgram(options.extensions ?? [], settled, { clock, notify, dns }));
  const stop = async () => (options.running === undefined ? running.stop() : undefined);
  const validation = validateTools(options.validatorOf ?? (() => null), running);
  return {
    running,
    extensions: () => running.states(),
    async join(make) {
      try {
        const joined = await make({ hosted, running, validating: validation.validate });
        return { ...joined, close: () => joined.close().finally(stop) };
      } catch (error) {
        await stop();
        throw error;
      }
    },
    completing: (complete) => (tool) => validation.complete(complete(tool)),
    hideWith(hider) {
      for (const secret of settingsSecrets(running.set, settled)) hider.add(secret);
    },
    tell: (next, record) => running.tell(next, record),
  };
}

function hostedOf(upstreams: Readonly<Record<string, UpstreamOptions>> = {}): readonly Hosted[] {
  return Object.entries(upstreams).map(([name, given]) => {
    const { kind, settings = {}, timeout_seconds: seconds } = given;
    const isUsable =
      isObject(given) && typeof kind === 'string' && isObject(settings) && /^[A-Za-z0-9_-]{1,64}$/.test(name);
    if (!isUsable || (seconds !== undefined && !(seconds > 0)))
      throw new GatewayError(
        'bad_options',
        `option \`upstreams\`: '${name}' needs a kind, and settings if the kind has some`,
      );
    return { name, kind, settings, timeoutMs: seconds === undefined ? null : seconds * 1_000, rules: [] };
  });
}
