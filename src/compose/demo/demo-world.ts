/** What the demo needs of a gateway: one that is run on a configuration, as `recourse up` runs it, and keys of agents. */
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { OpenForServing } from '../project/serve-options.ts';
import { runUp, type UpEnd } from '../serve/run-up.ts';
import { defaultTenant } from '../state/key-files.ts';
import { manageKeys } from '../state/manage-keys.ts';

interface GatewayOrder {
  readonly config: string;
  readonly file: string;
  readonly listen: string;
  readonly onReady: (ready: { readonly url: string; readonly open: string }) => void;
  readonly onTrouble: (problem: string) => void;
  readonly onStop: (callback: () => void) => () => void;
}

type GatewayEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'refused'; readonly because: 'address' | 'store' | 'gateway'; readonly message: string };

export interface DemoParts {
  readonly open: OpenForServing;
  readonly version: string;
  readonly onNotice: Notifier;
}

export function demoWorld({ open, version, onNotice }: DemoParts) {
  return {
    async runGateway(order: GatewayOrder): Promise<GatewayEnd> {
      let url = '';
      const end = await runUp(
        {
          ...order,
          newStore: false,
          openAs: null,
          mode: 'step',
          force: false,
          version,
          onNotice,
          onListening: (listening) => void (url = listening),
          onReady: ({ console: link }) => order.onReady({ url, open: link ?? url }),
          onSlowStart: (seconds) => order.onTrouble(`the gateway is still starting after ${seconds} s`),
          onSuccession: () => undefined,
        },
        open,
      );
      return endOf(end);
    },
    async addKey(store: string, agent: string): Promise<string> {
      const key = { tenant: defaultTenant, role: 'agent', name: agent, createdBy: 'demo', expiresAtMs: null } as const;
      const added = await manageKeys.add(store, key, nodeClock.nowMs());
      if (added.kind === 'refused') throw new Error(`the demo cannot keep a key: ${added.message}`);
      if (added.value === null) throw new Error('bug: a key that was added is not there');
      return added.value.key;
    },
  };
}

function endOf(end: UpEnd): GatewayEnd {
  switch (end.kind) {
    case 'ended':
      return end;
    case 'no_address':
      // The address is chosen by another option here.
      return { kind: 'refused', because: 'address', message: end.message.replaceAll('--listen', '--port') };
    case 'refused':
      return { kind: 'refused', because: end.because === 'store' ? 'store' : 'gateway', message: end.message };
    case 'problems': {
      const [{ file, line, message } = { file: '', line: 0, message: 'nothing is said' }] = end.problems;
      throw new Error(`bug: the configuration of the demo is wrong at ${file}:${line}: ${message}`);
    }
    case 'bad_listen':
    case 'not_local':
      throw new Error(`bug: the address of the demo is refused: ${end.kind}`);
    default:
      return end satisfies never;
  }
}
