/** What the other parts of a gateway take from its extensions: providers of secrets, notifiers, cost functions. */
import type { AnySubscriber } from '../../adapters/notify/start-notices.ts';
import type { NotifierUse } from '../../adapters/notify/follow/subscriber.ts';
import type { NotifyConfig } from '../../config/config.ts';
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import type { ExtensionProblem } from '../../core/extension/extension-shape.ts';
import type { ModelKinds } from '../../core/model/model-provider.ts';
import type { CostFunctions } from '../../core/policy/compile-quotas.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { Extension } from '../../extension/extension.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DeliverNotice } from '../../ports/notice.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { SecretProvider } from '../../ports/secret-provider.ts';
import { loadBuiltIn } from './built-in.ts';
import { problemsWithSettings, secretsIn } from './check-settings.ts';
import { addedBy, type ExtensionSet, loadedOf, makeSet, noExtensions, type Use } from './extension-set.ts';
import { guardNotifier, guardProvider } from './guard-kinds.ts';
import type { Hosted } from './hosted-tools.ts';
import { type Running, startExtensions } from './start-extensions.ts';

export function providerOf({ set, hostOf }: Running, kind: string, settings: JsonObject): SecretProvider {
  const { added, owner } = addedBy(set, 'credentials', kind) ?? missing('a source of secrets', kind);
  return guardProvider(added, settings, { extension: owner.name, kind, host: hostOf(owner) });
}

export function notifierOf({ set, hostOf }: Running, { kind, settings }: NotifierUse): DeliverNotice {
  const { added, owner } = addedBy(set, 'notifiers', kind) ?? missing('a notifier', kind);
  return guardNotifier(added, settings, { extension: owner.name, kind, host: hostOf(owner) });
}

function missing(what: string, kind: string): never {
  throw new GatewayError('bad_options', `no extension adds ${what} of the kind '${kind}'`);
}

/** Who is told; mail is told by the kind `smtp`. */
export function subscribersOf(notify: readonly NotifyConfig[]): readonly AnySubscriber[] {
  return notify.map((each) => {
    if (each.via !== 'smtp') return each;
    const { server, from, to, ...common } = each;
    return { ...common, via: 'extension', kind: 'smtp', settings: { server, from, to: [...to] } };
  });
}

/** Who is told by a configuration, and how. */
export const noticesOf = (notify: readonly NotifyConfig[], running: Running) => ({
  subscribers: subscribersOf(notify),
  notifierOf: (use: NotifierUse): DeliverNotice => notifierOf(running, use),
});

/** By name. They are pure, so they need no start. One that is used and that nobody adds has been reported. */
export function costFunctions(set: ExtensionSet, uses: readonly Use[] = []): CostFunctions {
  const used = uses.flatMap(({ addition, kind }) => (addition === 'costs' ? [kind] : []));
  const names = new Set([...set.kinds.namesOf('costs'), ...used]);
  return new Map([...names].map((name) => [name, addedBy(set, 'costs', name)?.added ?? nobodysCost]));
}

function nobodysCost(): never {
  throw new Error('no extension adds this cost function');
}

/** The kinds of providers of models, by name. */
export function modelKindsOf(set: ExtensionSet): ModelKinds {
  const named = set.kinds.namesOf('models').map((name) => [name, addedBy(set, 'models', name)?.added] as const);
  return new Map(named.flatMap(([name, kind]) => (kind === undefined ? [] : [[name, kind] as const])));
}

interface Settled {
  readonly credentials: readonly DeclaredCredential[];
  readonly hosted: readonly Hosted[];
}

/** The secrets that stand in settings, as the schemas of extensions say. */
export function settingsSecrets(set: ExtensionSet, { credentials, hosted }: Settled): readonly string[] {
  const found: (readonly [unknown, Json])[] = [
    ...set.order.map(({ extension, settings }) => [extension.settings, settings] as const),
    ...hosted.map(({ kind, settings }) => [addedBy(set, 'upstreams', kind)?.added.settings, settings] as const),
    ...credentials.flatMap(({ source }) =>
      source.provider === 'extension'
        ? [[addedBy(set, 'credentials', source.kind)?.added.settings, source.settings] as const]
        : [],
    ),
  ];
  return found.flatMap(([schema, settings]) => secretsIn(schema, settings));
}

/** What a program uses of extensions. */
export function usesOfProgram({ credentials, hosted }: Settled): readonly Use[] {
  return [
    ...hosted.map(({ kind }) => ({ addition: 'upstreams', kind }) as const),
    ...credentials.flatMap(({ source }): readonly Use[] =>
      source.provider === 'extension' || source.provider === 'vault'
        ? [{ addition: 'credentials', kind: source.provider === 'vault' ? 'vault' : source.kind }]
        : [],
    ),
  ];
}

export interface ProgramParts {
  readonly clock?: Clock;
  readonly notify: Notifier;
  readonly dns?: readonly string[] | undefined;
}

/** The extensions of a program, started. Throws a GatewayError with the code if they cannot be. */
export async function startForProgram(
  extensions: readonly Extension[],
  settled: Settled,
  { clock = nodeClock, notify, dns }: ProgramParts,
): Promise<Running> {
  const uses = usesOfProgram(settled);
  const own = extensions.map((each) => loadedOf(each, { called: '?', settings: {}, at: null, isBuiltIn: false }));
  const [wrong] = own.flatMap(({ problems }) => problems);
  if (wrong !== undefined) return refuse([wrong]);
  const loaded = [...(await loadBuiltIn(uses)), ...own.flatMap((each) => each.loaded ?? [])];
  const made = loaded.length === 0 ? ({ ok: true, set: noExtensions } as const) : makeSet(loaded, uses);
  if (!made.ok) return refuse(made.problems);
  checkProgram(made.set, settled);
  const running = await startExtensions(made.set, { clock, notify, dns });
  const refusals = running.refusals();
  if (refusals.length === 0) return running;
  await running.stop();
  return refuse(refusals);
}

function refuse(problems: readonly ExtensionProblem[]): never {
  const says = problems.map(({ message, fix }) => `${message}; ${fix}`).join('\n');
  throw new GatewayError('extension', says, problems[0]?.code ?? 'LifecycleFailure');
}

function checkProgram(set: ExtensionSet, { credentials, hosted }: Settled): void {
  const check = (addition: 'upstreams' | 'credentials', what: string, kind: string, settings: JsonObject) => {
    const { added } = addedBy(set, addition, kind) ?? missing(what, kind);
    const [wrong] = problemsWithSettings(added.settings, settings, `the kind '${kind}'`);
    if (wrong !== undefined) throw new GatewayError('bad_options', `${wrong.message}; ${wrong.fix}`);
  };
  for (const { kind, settings } of hosted) check('upstreams', 'servers', kind, settings);
  for (const { source } of credentials)
    if (source.provider === 'extension') check('credentials', 'a source of secrets', source.kind, source.settings);
}
