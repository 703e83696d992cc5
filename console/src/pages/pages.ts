/** The pages of the console, in the order of the navigation. Each is loaded when it is first opened. */
import type { ComponentType } from 'preact';
import type { IconName } from '../parts/icon.tsx';
import type { PageProps } from './page-props.ts';

export interface PageEntry {
  /** The first word of its address. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** `g`, then this letter, opens it; null for a page that is opened from others only. */
  readonly key: string | null;
  readonly load: () => Promise<ComponentType<PageProps>>;
}

export const pages: readonly PageEntry[] = [
  {
    name: 'live',
    title: 'Live',
    icon: 'live',
    key: 'l',
    load: async () => (await import('./live/live-page.tsx')).LivePage,
  },
  {
    name: 'inbox',
    title: 'Inbox',
    icon: 'inbox',
    key: 'i',
    load: async () => (await import('./inbox/inbox-page.tsx')).InboxPage,
  },
  {
    name: 'sessions',
    title: 'Sessions',
    icon: 'sessions',
    key: 's',
    load: async () => (await import('./sessions/sessions-page.tsx')).SessionsPage,
  },
  {
    name: 'policy',
    title: 'Policy',
    icon: 'policy',
    key: 'p',
    load: async () => (await import('./policy/policy-page.tsx')).PolicyPage,
  },
  {
    name: 'tools',
    title: 'Tools',
    icon: 'tools',
    key: 't',
    load: async () => (await import('./tools/tools-page.tsx')).ToolsPage,
  },
  {
    name: 'proof',
    title: 'Proof',
    icon: 'proof',
    key: 'v',
    load: async () => (await import('./proof/proof-page.tsx')).ProofPage,
  },
  {
    name: 'calls',
    title: 'Call',
    icon: 'call',
    key: null,
    load: async () => (await import('./call/call-page.tsx')).CallPage,
  },
];
