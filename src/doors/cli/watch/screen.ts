/**
 * A full-screen terminal: keys in, lines drawn in place. The terminal is restored however the process ends, unless it
 * is killed outright. Does not know what is drawn.
 */
import type { ReadStream, WriteStream } from 'node:tty';
import { emitKeypressEvents } from 'node:readline';

/** `text` is what was typed; empty for other keys. */
export interface Key {
  readonly name: 'up' | 'down' | 'enter' | 'escape' | 'backspace' | 'interrupt' | 'text' | 'other';
  readonly text: string;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Screen {
  size(): ScreenSize;
  /** Draws the whole screen; longer content is cut off, the rest is cleared. */
  draw(lines: readonly string[]): void;
  onKey(callback: (key: Key) => void): void;
  onResize(callback: () => void): void;
  /** Restores the terminal. Idempotent. */
  close(): void;
}

/** The alternate screen without cursor and line wrapping; and back. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const leave = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const toTheEndOfLine = '\u001b[K';
const toTheEndOfScreen = '\u001b[J';

/** The exit code after SIGHUP, as shells report it. */
const hungUp = 129;

/** The default size. */
const usual: ScreenSize = { columns: 80, rows: 24 };

export type ScreenInput = Pick<ReadStream, 'setRawMode' | 'resume' | 'pause' | 'on' | 'off'> & NodeJS.ReadableStream;
export type ScreenOutput = Pick<WriteStream, 'write' | 'on' | 'off' | 'columns' | 'rows'>;

export function openScreen(input: ScreenInput, output: ScreenOutput): Screen {
  let isOpen = true;
  const keys = new Set<(key: Key) => void>();
  const resized = new Set<() => void>();
  const onKeypress = (text: string | undefined, key: Pressed) => {
    for (const callback of keys) callback(keyOf(text, key));
  };
  const onResize = () => {
    for (const callback of resized) callback();
  };
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    process.off('exit', close);
    process.off('SIGHUP', hangUp);
    input.off('keypress', onKeypress);
    output.off('resize', onResize);
    input.setRawMode(false);
    input.pause();
    output.write(leave);
  };
  const hangUp = () => process.exit(hungUp);
  // INVARIANT: an unexpected exit restores the terminal, too.
  process.on('exit', close);
  process.on('SIGHUP', hangUp);
  emitKeypressEvents(input);
  input.setRawMode(true);
  input.resume();
  input.on('keypress', onKeypress);
  output.on('resize', onResize);
  output.write(enter);
  const size = (): ScreenSize => ({ columns: output.columns || usual.columns, rows: output.rows || usual.rows });
  return {
    size,
    draw(lines) {
      if (!isOpen) return;
      const shown = lines.slice(0, size().rows).map((line) => `${line}${toTheEndOfLine}`);
      output.write(`${home}${shown.join('\r\n')}${toTheEndOfScreen}`);
    },
    onKey: (callback) => void keys.add(callback),
    onResize: (callback) => void resized.add(callback),
    close,
  };
}

/** As node:readline names them. */
interface Pressed {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

const names: Readonly<Record<string, Key['name']>> = {
  up: 'up',
  down: 'down',
  return: 'enter',
  enter: 'enter',
  escape: 'escape',
  backspace: 'backspace',
};

export function keyOf(text: string | undefined, { name = '', ctrl = false, meta = false }: Pressed): Key {
  if (ctrl) return { name: name === 'c' || name === 'd' ? 'interrupt' : 'other', text: '' };
  const known = names[name];
  if (known !== undefined) return { name: known, text: '' };
  const typed = text ?? '';
  return meta || typed === '' || /\p{Cc}/u.test(typed) ? { name: 'other', text: '' } : { name: 'text', text: typed };
}
