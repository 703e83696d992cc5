/**
 * Starts extensions in their order and stops them in reverse, each within its time. One that does not start is told:
 * the start of the gateway is refused if something is used that it adds, otherwise the others go on. Never rejects.
 */
import type { HttpAsker } from '../../adapters/shared/ask-http.ts';
import { createResolver } from '../../adapters/shared/node-resolver.ts';
import { messageOf } from '../../adapters/upstream-function/describe-throw.ts';
import { extensionLimits } from '../../core/extension/extension-limits.ts';
import type { SuppressedNotice } from '../../core/values/suppressed.ts';
import type { ExtensionProblem } from '../../core/extension/extension-shape.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Host } from '../../extension/host.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { createHost, type HostParts } from './create-host.ts';
import type { ExtensionSet, LoadedExtension } from './extension-set.ts';
import { type LifecycleFault, runStep } from './lifecycle.ts';

export interface ExtensionState {
  readonly name: string;
  readonly contract: number;
  readonly state: 'loaded' | 'started' | 'failed' | 'stopped';
  /** Why it did not start or stop; null if it did. */
  readonly problem: LifecycleFault | null;
  readonly needs: readonly string[];
  readonly adds: LoadedExtension['adds'];
  /** It ships with the gateway. */
  readonly builtIn: boolean;
}

export interface Running {
  readonly set: ExtensionSet;
  hostOf(extension: LoadedExtension): Host;
  states(): readonly ExtensionState[];
  /** Those that failed, as far as something needs them. */
  refusals(): readonly ExtensionProblem[];
  /** Where notices go from now on, and what is suppressed goes on record: also what was before. */
  tell(notify: Notifier, record: (notice: SuppressedNotice) => void): void;
  stop(): Promise<void>;
}

interface Life {
  readonly stopping: AbortController;
  readonly host: Host;
  state: ExtensionState['state'];
  problem: LifecycleFault | null;
}

export interface StartParts {
  readonly clock: Clock;
  /** Until the gateway is open. */
  readonly notify: Notifier;
  readonly dns?: readonly string[] | undefined;
}

export async function startExtensions(set: ExtensionSet, { clock, notify, dns }: StartParts): Promise<Running> {
  const teller = createTeller(notify);
  let asker: Promise<HttpAsker> | null = null;
  const http = () => (asker ??= loadAsker(dns));
  const exported = new Map<string, unknown>();
  const parts: HostParts = { nowMs: () => clock.nowMs(), http, exported, suppressed: teller.suppressed };
  const lives = new Map<string, Life>();
  for (const each of set.order) {
    const stopping = new AbortController();
    lives.set(each.name, { stopping, host: createHost(each, stopping.signal, parts), state: 'loaded', problem: null });
  }
  const lifeOf = ({ name }: Pick<LoadedExtension, 'name'>): Life => {
    const life = lives.get(name);
    if (life === undefined) throw new Error(`bug: no extension is called '${name}'`);
    return life;
  };

  const start = async (each: LoadedExtension): Promise<void> => {
    const life = lifeOf(each);
    const { name, needs, startTimeoutMs: timeoutMs, extension } = each;
    const lacks = needs.find((needed) => lives.get(needed)?.state !== 'started');
    const onLate = (what: string, error: unknown) => teller.suppressed(name, what, error);
    const run = () => extension.start?.(life.host);
    const stepped =
      lacks === undefined
        ? await runStep({ extension: name, what: 'start', timeoutMs, run, onLate }, clock)
        : ({ ok: false, fault: notStarted(name, lacks) } as const);
    if (stepped.ok) {
      exported.set(name, stepped.value);
      life.state = 'started';
      return;
    }
    life.state = 'failed';
    life.problem = stepped.fault;
    life.stopping.abort();
    teller.failed(name, 'start', stepped.fault);
  };

  const stop = async (each: LoadedExtension): Promise<void> => {
    const life = lifeOf(each);
    if (life.state !== 'started') return;
    life.stopping.abort();
    const { name, stopTimeoutMs: timeoutMs, extension } = each;
    const onLate = (what: string, error: unknown) => teller.suppressed(name, what, error);
    const run = () => extension.stop?.();
    const stepped = await runStep({ extension: name, what: 'stop', timeoutMs, run, onLate }, clock);
    life.state = 'stopped';
    if (stepped.ok) return;
    life.problem = stepped.fault;
    teller.failed(name, 'stop', stepped.fault);
  };

  for (const each of set.order) await start(each);
  let stopped: Promise<void> | null = null;
  const stopAll = async () => {
    for (const each of set.order.toReversed()) await stop(each);
    (await asker)?.close();
  };
  return {
    set,
    hostOf: (extension) => lifeOf(extension).host,
    states: () => set.order.map((each) => stateOf(each, lifeOf(each))),
    refusals: () => set.order.flatMap((each) => refusalOf(each, lifeOf(each), set)),
    tell: teller.tell,
    stop: () => (stopped ??= stopAll()),
  };
}

/** Only if something is asked: it loads an HTTP client. */
async function loadAsker(dns: StartParts['dns']): Promise<HttpAsker> {
  const { createHttpAsker } = await import('../../adapters/shared/ask-http.ts');
  return createHttpAsker(createResolver(dns));
}

const notStarted = (name: string, needed: string): LifecycleFault => ({
  class: 'ExtensionHost',
  code: 'LifecycleFailure',
  message: `the extension '${name}' was not started: '${needed}', which it needs, is not running`,
});

const stateOf = (
  { name, contract, needs, adds, isBuiltIn }: LoadedExtension,
  { state, problem }: Life,
): ExtensionState => ({
  name,
  contract,
  state,
  problem,
  needs,
  adds,
  builtIn: isBuiltIn,
});

function refusalOf({ name }: LoadedExtension, { problem }: Life, { used }: ExtensionSet): readonly ExtensionProblem[] {
  if (problem === null || !used.has(name)) return [];
  const fix = 'correct it, or leave out what uses it';
  return [{ code: 'LifecycleFailure', extension: name, message: `${problem.message} [${problem.code}]`, fix }];
}

/** Notices from before the gateway is open are kept, so that they are on record too. */
function createTeller(first: Notifier) {
  let notify = first;
  let early: SuppressedNotice[] | null = [];
  return {
    suppressed(extension: string, reason: string, error: unknown): void {
      const said = error === undefined ? String(reason) : `${String(reason)}: ${messageOf(error)}`;
      const notice = { kind: 'suppressed', what: `an error in the extension '${extension}'`, reason: said } as const;
      early?.push(notice);
      if (early !== null && early.length > extensionLimits.maxEarlyNotices) early.shift();
      notify(notice);
    },
    failed: (extension: string, step: 'start' | 'stop', { code, message }: LifecycleFault) =>
      notify({ kind: 'extension_failed', extension, step, code, message }),
    tell(next: Notifier, record: (notice: SuppressedNotice) => void): void {
      notify = next;
      for (const notice of early ?? []) record(notice);
      early = null;
    },
  };
}
