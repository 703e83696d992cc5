/**
 * Shows what comes from tools, agents and arguments. INVARIANT: such text is on the page through this component alone:
 * as text, what cannot be seen spelled out and marked, its direction kept to itself, and no longer than a limit.
 */
import { useState } from 'preact/hooks';
import { isPlain, piecesOf } from '../../../src/core/values/quote.ts';

export interface ForeignProps {
  readonly text: string;
  /** On one line, or in a box of its own where line ends are kept. */
  readonly block?: boolean;
  /** Characters before "show all"; by default 160 on a line and 4,000 in a box. */
  readonly max?: number;
  /** In the font of code. */
  readonly code?: boolean;
}

const inlineChars = 160;
const blockChars = 4_000;
/** Even "show all" shows no more than this at once. */
const maxShown = 200_000;

export function Foreign(props: ForeignProps) {
  const { text, block = false, code = false, max = inlineChars } = props;
  // Most texts are short and plain, and lists are full of them.
  if (block || text.length > max || !isPlain(text)) return <Clipped {...props} />;
  return (
    <span class={code ? 'foreign code' : 'foreign'}>
      <bdi>{text}</bdi>
    </span>
  );
}

function Clipped({ text, block = false, code = false, max = block ? blockChars : inlineChars }: ForeignProps) {
  const [all, setAll] = useState(false);
  const limit = all ? maxShown : max;
  const isCut = text.length > limit;
  const shown = isCut ? text.slice(0, limit).toWellFormed() : text;
  const name = `foreign${block ? ' foreign-block' : ''}${code ? ' code' : ''}`;
  const more = isCut && !all && (
    <button type="button" class="link-button" onClick={() => setAll(true)}>
      show all ({text.length.toLocaleString('en')} characters)
    </button>
  );
  const cut = isCut && all && <span class="quiet">cut after {maxShown.toLocaleString('en')} characters</span>;
  if (!block)
    return (
      <span class={name}>
        <bdi>{pieces(shown)}</bdi>
        {isCut && '… '}
        {more}
        {cut}
      </span>
    );
  return (
    <div class={name}>
      {shown.split('\n').map((line, at) => (
        <bdi key={at} class="foreign-line">
          {line === '' ? ' ' : pieces(line)}
        </bdi>
      ))}
      {more}
      {cut}
    </div>
  );
}

const pieces = (text: string) =>
  piecesOf(text).map((piece, at) =>
    piece.unseen ? (
      <span key={at} class="unseen" title="a character that cannot be seen">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
