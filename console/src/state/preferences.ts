/** What this person chose for this browser: light or dark, and the time zone. Kept in the browser alone. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'local' | 'utc';

export const theme = signal<Theme>('system');
export const zone = signal<Zone>('local');

export function startPreferences(): void {
  theme.value = oneOf(kept('theme'), ['system', 'light', 'dark']);
  zone.value = oneOf(kept('zone'), ['local', 'utc']);
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
    keep('theme', theme.value);
  });
  effect(() => keep('zone', zone.value));
}

const oneOf = <Name extends string>(value: string | null, names: readonly [Name, ...Name[]]): Name =>
  names.find((name) => name === value) ?? names[0];

function kept(name: string): string | null {
  try {
    return localStorage.getItem(`recourse.${name}`);
  } catch {
    // Ignored: a browser may forbid keeping anything; the choice then lasts as long as the page.
    return null;
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`recourse.${name}`, value);
  } catch {
    // Ignored: as above.
  }
}
