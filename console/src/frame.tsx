/** The frame around every page: navigation, who is signed in, theme, time zone, and help for the keyboard. */
import { useEffect, useState } from 'preact/hooks';
import { HelpDialog } from './frame/help-dialog.tsx';
import { listenToKeys } from './frame/keys.ts';
import { Navigation } from './frame/navigation.tsx';
import { PageView } from './frame/page-view.tsx';
import { TopBar } from './frame/top-bar.tsx';
import { startInbox } from './state/inbox.ts';
import type { Who } from './state/session.ts';

export function Frame({ who }: { readonly who: Who }) {
  const [helps, setHelps] = useState(false);
  useEffect(() => listenToKeys(() => setHelps(true)), []);
  useEffect(startInbox, []);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <Navigation />
      <div class="column">
        <TopBar who={who} onHelp={() => setHelps(true)} />
        <main id="main" tabIndex={-1}>
          <PageView />
        </main>
      </div>
      {helps && <HelpDialog close={() => setHelps(false)} />}
    </div>
  );
}

/** The address is the console's own, so the browser must not go to the anchor. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
