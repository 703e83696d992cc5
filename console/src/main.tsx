/** Starts the console: reads the address, asks who is signed in, and shows the page. */
import { render } from 'preact';
import './style/tokens.css';
import './style/base.css';
import './style/layout.css';
import './style/parts.css';
import { App } from './app.tsx';
import { startPreferences } from './state/preferences.ts';
import { startRouting } from './state/route.ts';
import { startSession } from './state/session.ts';

startPreferences();
startRouting();
void startSession();
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
