/** Finds keys in the texts of a stream that is held back. Ids that nobody has looked up yet are collected. */
import type { Seeker } from '../../core/model/hold-back.ts';
import { mark } from './key-pieces.ts';
import { idChars, idClass, secretChars } from './key-text.ts';

export interface KeySeeker extends Seeker {
  /** Ids about which `isLive` knows nothing. */
  readonly unknown: ReadonlySet<string>;
}

const beginning = new RegExp(`^r(?:k(?:_${idClass}{0,${idChars}})?)?$`);
const key = new RegExp(`rk_(${idClass}{${idChars}})_([\\w-]{0,${secretChars}})`, 'y');
const prefixChars = 'rk_'.length + idChars + '_'.length;

/** `isLive`: undefined if nobody has looked yet. */
export function seekKeys(isLive: (id: string) => boolean | undefined): KeySeeker {
  const unknown = new Set<string>();
  return {
    unknown,
    at(text, from) {
      if (text.charAt(from) !== 'r') return nothing;
      key.lastIndex = from;
      const [whole = '', id = '', secret = ''] = key.exec(text) ?? [];
      if (whole === '')
        return text.length - from < prefixChars && beginning.test(text.slice(from)) ? someBeginning : nothing;
      const live = isLive(id);
      if (live === false) return nothing;
      if (live === undefined) unknown.add(id);
      const end = from + whole.length;
      // INVARIANT: what directly follows the id of a live key is masked, whether or not it is its secret.
      const found = secret === '' ? null : { end, shown: `rk_${id}_${mark}` };
      return { found, open: live === undefined || (end === text.length && secret.length < secretChars) };
    },
  };
}

const nothing = { found: null, open: false } as const;
const someBeginning = { found: null, open: true } as const;
