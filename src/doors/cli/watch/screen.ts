/**
 * A whole terminal for one command: single keys come in, lines are drawn in place. However the process ends, short of being killed
 * outright, the terminal is as it was before. Must not know what is drawn.
 */
import type { ReadStream, WriteStream } from 'node:tty';
import { emitKeypressEvents } from 'node:readline';

/** `text` is what was typed, empty for a key that types nothing. */
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
  /** All of the screen; what is longer is cut off, what is shorter is cleared. */
  draw(lines: readonly string[]): void;
  onKey(callback: (key: Key) => void): void;
  onResize(callback: () => void): void;
  /** Gives the terminal back. Twice is once. */
  close(): void;
}

/** Another page, no cursor, no wrapping of what is too long; and back again. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const leave = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const home = '\u001b[H';
const toTheEndOfLine = '\u001b[K';
const toTheEndOfScreen = '\u001b[J';

/** As a shell says it of a command whose terminal is gone. */
const hungUp = 129;

/** As terminals are when nobody says how large. */
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
  // INVARIANT: an exit that nobody foresaw gives the terminal back too.
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
