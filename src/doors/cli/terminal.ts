/**
 * The terminal of a command: results go to standard output, everything else to standard error. Colours only on a
 * terminal (NO_COLOR and FORCE_COLOR are respected); a reader that closes the pipe early is not an error.
 */
import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { exitCodes } from './exit-codes.ts';
import type { Screen } from './watch/screen.ts';

/** Escapes text of others: control characters, bidirectional and invisible characters. */
export { spellOut as harmless } from '../../core/values/quote.ts';

export type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'red' | 'yellow';
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  /** Writes a part of the result to standard output. */
  readonly print: (text: string) => void;
  /** Writes a message to standard error. */
  readonly tell: (text: string) => void;
  readonly paint: Paint;
  readonly paintTold: Paint;
  /** Shows progress in place; null without a terminal. */
  readonly progress: ((text: string) => void) | null;
  /** Opens a full screen; null without a terminal. */
  readonly openScreen: (() => Promise<Screen>) | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Calls back when the command is interrupted; returns how to stop listening. */
  readonly onStop: (callback: () => void) => () => void;
}

/** The last one: the terminal was closed. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  const listeners = new Set<() => void>();
  let closed = false;
  const stop = () => {
    for (const listener of listeners) listener();
  };
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') return cannotWrite(error);
    // The command still ends regularly: it may have something to clean up.
    closed = true;
    stop();
  });
  // Standard error is closed: there is nowhere to report that.
  stderr.on('error', () => undefined);
  return {
    print: (text) => {
      if (!closed) stdout.write(text);
    },
    tell: (text) => void stderr.write(text),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
    paintTold: (style, text) => styleText(style, text, { stream: stderr }),
    progress: stderr.isTTY ? (text) => void stderr.write(`\r\u001b[K${text}`) : null,
    openScreen: isatty(0) && stdout.isTTY ? openScreen : null,
    env: process.env,
    onStop(callback) {
      listeners.add(callback);
      for (const signal of signals) process.on(signal, callback);
      return () => {
        listeners.delete(callback);
        for (const signal of signals) process.off(signal, callback);
      };
    },
  };
}

/** Loaded only for the command that draws. */
async function openScreen(): Promise<Screen> {
  return (await import('./watch/screen.ts')).openScreen(process.stdin, process.stdout);
}

function cannotWrite(error: NodeJS.ErrnoException): void {
  process.stderr.write(
    `recourse: the output cannot be written (${error.code ?? error.message}): check where it goes\n`,
  );
  process.exit(exitCodes.no.code);
}

export interface Timer {
  schedule(delayMs: number, callback: () => void): () => void;
}

const pollEveryMs = 200;

/**
 * For a command that polls until Ctrl-C: `wait` resolves true after a moment, or false at once when the command is
 * stopped.
 */
export function pollUntilStopped(terminal: Terminal, timer: Timer) {
  let stopped = false;
  let interrupt = (): void => undefined;
  const stopListening = terminal.onStop(() => {
    stopped = true;
    interrupt();
  });
  const wait = () =>
    new Promise<boolean>((resolve) => {
      const cancel = timer.schedule(pollEveryMs, () => resolve(true));
      interrupt = () => {
        cancel();
        resolve(false);
      };
      if (stopped) interrupt();
    });
  return { wait, stopListening };
}
