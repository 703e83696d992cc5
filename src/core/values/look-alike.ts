/**
 * Finds names that can be mistaken for others: mixed alphabets, invisible characters, similar letters. `refund` with a
 * Cyrillic е is another tool, which no rule about `refund` covers. Uses a small table, not all of Unicode.
 */
import { spellOut } from './quote.ts';

/** Alphabets whose letters look alike. */
const alphabets = {
  Latin: /\p{Script=Latin}/gu,
  Cyrillic: /\p{Script=Cyrillic}/gu,
  Greek: /\p{Script=Greek}/gu,
  Armenian: /\p{Script=Armenian}/gu,
  Cherokee: /\p{Script=Cherokee}/gu,
  Coptic: /\p{Script=Coptic}/gu,
  Georgian: /\p{Script=Georgian}/gu,
} as const;

/** Each letter of the first text looks like the one at its place in the second. */
const alike = [
  ['аеорсухіјѕһԁԛԝкѵɡɑıⲟ', 'aeopcyxijshdqwkvgaio'],
  ['АВЕКМНОРСТХУІЈЅԌ', 'ABEKMHOPCTXYIJSG'],
  ['αορνυικχγηωϲϳ', 'aopvuikxynwcj'],
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'],
  ['օոսցհ', 'onugh'],
  // After the letters above have become Latin ones.
  ['01I', 'oll'],
] as const;

/** Equal for names that look the same. */
export function skeletonOf(name: string): string {
  const visible = name.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}]/gu, '');
  return alike.reduce((text, [from, to]) => {
    const table = new Map([...from].map((letter, at) => [letter, [...to][at] ?? letter]));
    return [...text].map((letter) => table.get(letter) ?? letter).join('');
  }, visible);
}

/** Why one name by itself is suspicious; null if it is not. */
export function suspicionOf(name: string): string | null {
  // Nearly all of them.
  if (/^[!-~]*$/.test(name)) return null;
  const unseen = [...name].filter((char) => spellOut(char) !== char && spellOut(`a${char}`) !== `a${char}`);
  if (unseen.length > 0) return `holds what cannot be seen (${codesOf(unseen)})`;
  for (const part of name.split(/[/*]/)) {
    const used = Object.entries(alphabets).flatMap(([script, letters]) => {
      const found = part.match(letters) ?? [];
      return found.length === 0 ? [] : [{ script, found }];
    });
    const others = used.filter(({ script }) => script !== 'Latin').flatMap(({ found }) => found);
    if (used.length > 1)
      return `mixes letters that look alike: ${used.map(({ script }) => script).join(' and ')} (${codesOf(others)})`;
  }
  return null;
}

/**
 * What is suspicious about a name that a rule gives to a tool, beside the names that tools have; null if nothing is.
 */
export function lookAtRules(tools: readonly string[]): (match: string) => string | null {
  const known = new Set(tools);
  const looks = new Map([...known].map((name) => [skeletonOf(name), name]));
  return (match) => {
    const suspicion = suspicionOf(match);
    const double = known.has(match) || match.includes('*') ? undefined : looks.get(skeletonOf(match));
    if (suspicion === null && double === undefined) return null;
    const like = double === undefined ? '' : `, and looks like the tool ${spellOut(double)}`;
    return `the name ${spellOut(match)} ${suspicion ?? 'is no tool'}${like}`;
  };
}

export interface LookAlike {
  readonly name: string;
  readonly says: string;
}

/** Of names that stand beside each other. Linear: each is compared by what it looks like. */
export function findLookAlikes(names: readonly string[]): readonly LookAlike[] {
  const looks = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const skeleton = skeletonOf(name);
    looks.set(skeleton, [...(looks.get(skeleton) ?? []), name]);
  }
  return names.flatMap((name) => {
    const double = looks.get(skeletonOf(name))?.find((other) => other !== name);
    const says = [suspicionOf(name), double === undefined ? null : `looks like ${spellOut(double)}`];
    const said = says.filter((each) => each !== null);
    return said.length === 0 ? [] : [{ name, says: said.join(', and ') }];
  });
}

const maxCodes = 5;

function codesOf(chars: readonly string[]): string {
  const codes = [...new Set(chars)].map((char) => {
    const hex = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `U+${hex}`;
  });
  return codes.slice(0, maxCodes).join(', ') + (codes.length > maxCodes ? ', …' : '');
}
