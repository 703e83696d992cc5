/** Time zone, light or dark, help, and who is signed in. */
import { Icon } from '../parts/icon.tsx';
import { type Theme, theme, zone } from '../state/preferences.ts';
import { signOut, type Who } from '../state/session.ts';
import { clockTime, nowMs, zoneName } from '../state/time.ts';

const themes: readonly Theme[] = ['system', 'light', 'dark'];
const themeIcons = { system: 'system', light: 'sun', dark: 'moon' } as const;

export function TopBar({ who, onHelp }: { readonly who: Who; readonly onHelp: () => void }) {
  const nextTheme = () => {
    theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  };
  const nextZone = () => {
    zone.value = zone.value === 'local' ? 'utc' : 'local';
  };
  return (
    <header class="top-bar">
      <button type="button" class="bar-button number" onClick={nextZone} title="Switch between local time and UTC">
        <Icon name="clock" />
        <span>
          {clockTime(nowMs.value)} <span class="quiet">{zoneName()}</span>
        </span>
      </button>
      <button type="button" class="bar-button" onClick={nextTheme} aria-label={`Theme: ${theme.value}`}>
        <Icon name={themeIcons[theme.value]} />
        <span class="wide-only">{theme.value}</span>
      </button>
      <button type="button" class="bar-button" onClick={onHelp} aria-label="Keyboard help">
        <Icon name="help" />
      </button>
      <span class="who">
        <strong>{who.name}</strong> <span class="quiet">{who.role}</span>
      </span>
      <button type="button" class="bar-button" onClick={() => void signOut()} aria-label="Sign out">
        <Icon name="leave" />
        <span class="wide-only">Sign out</span>
      </button>
    </header>
  );
}
