/** The keys, in a dialog. Pages that have keys of their own list them here too. */
import { Dialog } from '../parts/dialog.tsx';
import { pages } from '../pages/pages.ts';
import { pageKeys } from '../state/page-keys.ts';

export function HelpDialog({ close }: { readonly close: () => void }) {
  const everywhere = pages.flatMap(({ key, title }) => (key === null ? [] : [[`g ${key}`, `open ${title}`] as const]));
  return (
    <Dialog title="Keys" close={close}>
      <dl class="keys">
        {[...everywhere, ['?', 'this help'] as const, ...pageKeys.value].map(([keys, says]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
