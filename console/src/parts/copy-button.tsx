/** Copies a text, and says so. */
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [done, setDone] = useState<'yes' | 'no' | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('yes');
    } catch {
      // Ignored: told beside the button; the text can be selected.
      setDone('no');
    }
    setTimeout(() => setDone(null), 2_000);
  };
  return (
    <button type="button" class="bar-button" onClick={() => void copy()} aria-label={`Copy ${what}`}>
      <Icon name="copy" />
      <span role="status">{done === 'yes' ? 'copied' : done === 'no' ? 'not allowed' : ''}</span>
    </button>
  );
}
