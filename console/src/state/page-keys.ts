/** The keys of the page that is shown, for the help. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export type PageKey = readonly [keys: string, says: string];

export const pageKeys = signal<readonly PageKey[]>([]);

export function usePageKeys(keys: readonly PageKey[]): void {
  useEffect(() => {
    pageKeys.value = keys;
    return () => {
      pageKeys.value = [];
    };
  }, []);
}
