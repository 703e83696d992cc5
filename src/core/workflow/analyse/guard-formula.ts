/**
 * Decides whether some guards can all refuse while others hold. Parses `not`, `and` and `or` and tries every
 * assignment of the rest. Answers yes when in doubt, so a no is a proof.
 */
type Formula =
  | { readonly kind: 'atom'; readonly text: string }
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'not'; readonly of: Formula }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Formula[] };

/** A guard longer or deeper than this is taken as it is: nobody looks into it. */
const maxGuardLength = 2_000;
const maxDepth = 12;
/** More different atoms than this are not tried out: 2 to this many truths. */
const maxAtoms = 10;

export function canBeSo(yes: readonly string[], no: readonly string[]): boolean {
  const wanted = [
    ...yes.map((text) => ({ formula: formulaOf(text), value: true })),
    ...no.map((text) => ({ formula: formulaOf(text), value: false })),
  ];
  const atoms = new Set<string>();
  for (const { formula } of wanted) collectAtoms(formula, atoms);
  if (atoms.size > maxAtoms) return true;
  const names = [...atoms];
  for (let truth = 0; truth < 2 ** names.length; truth++) {
    const holding = new Set(names.filter((_, bit) => (truth & (1 << bit)) !== 0));
    if (wanted.every(({ formula, value }) => holds(formula, holding) === value)) return true;
  }
  return false;
}

function collectAtoms(formula: Formula, into: Set<string>): void {
  if (formula.kind === 'constant') return;
  if (formula.kind === 'atom') into.add(formula.text);
  else if (formula.kind === 'not') collectAtoms(formula.of, into);
  else for (const part of formula.of) collectAtoms(part, into);
}

function holds(formula: Formula, holding: ReadonlySet<string>): boolean {
  if (formula.kind === 'constant') return formula.value;
  if (formula.kind === 'atom') return holding.has(formula.text);
  if (formula.kind === 'not') return !holds(formula.of, holding);
  return formula.kind === 'and'
    ? formula.of.every((part) => holds(part, holding))
    : formula.of.some((part) => holds(part, holding));
}

function formulaOf(text: string): Formula {
  return text.length <= maxGuardLength && isPlain(text) ? read(text, 0) : { kind: 'atom', text };
}

/**
 * A comment hides signs, and a string with a prefix or three quotes ends elsewhere than `blanked` thinks: neither is
 * looked into.
 */
function isPlain(text: string): boolean {
  const signs = blanked(text);
  return signs !== null && !/\/\/|\w["']|"""|'''/.test(signs);
}

/** As long as the text, with nothing between its quotes; null when a quote does not close. */
function blanked(text: string): string | null {
  let signs = '';
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote === '') {
      signs += char;
      if (char === '"' || char === "'") quote = char;
    } else if (char === '\\') {
      signs += '  ';
      at++;
    } else if (char === quote) {
      signs += char;
      quote = '';
    } else signs += ' ';
  }
  return quote === '' ? signs : null;
}

function read(raw: string, depth: number): Formula {
  const text = raw.trim();
  const atom: Formula = { kind: 'atom', text };
  if (depth > maxDepth) return atom;
  if (text === 'true' || text === 'false') return { kind: 'constant', value: text === 'true' };
  // `a ? b : c` binds weaker than everything below; it is not looked into.
  if (splitAt(text, '?')?.length !== 1) return atom;
  const either = splitAt(text, '||');
  if (either !== null && either.length > 1) return { kind: 'or', of: either.map((part) => read(part, depth + 1)) };
  const both = splitAt(text, '&&');
  if (both !== null && both.length > 1) return { kind: 'and', of: both.map((part) => read(part, depth + 1)) };

  return readOperand(text, depth) ?? atom;
}

/** A text without `||` and `&&` outside its brackets: brackets, `!…`, or a call of `not`, `and` or `or`. */
function readOperand(text: string, depth: number): Formula | null {
  const inner = bracketed(text, '');
  if (inner !== null) return read(inner, depth + 1);
  if (text.startsWith('!')) {
    const rest = text.slice(1).trim();
    const isOperand = /^[A-Za-z_][\w.]*$/.test(rest) || bracketed(rest, '') !== null;
    return isOperand ? { kind: 'not', of: read(rest, depth + 1) } : null;
  }
  const negated = bracketed(text, 'not');
  if (negated !== null && splitAt(negated, ',')?.length === 1) return { kind: 'not', of: read(negated, depth + 1) };
  for (const kind of ['and', 'or'] as const) {
    const parts = splitAt(bracketed(text, kind) ?? '', ',');
    if (bracketed(text, kind) !== null && parts !== null)
      return { kind, of: parts.map((part) => read(part, depth + 1)) };
  }
  return null;
}

/** What stands in the brackets of `name(…)`, if they hold the whole text together. */
function bracketed(text: string, name: string): string | null {
  if (!text.startsWith(`${name}(`) || !text.endsWith(')')) return null;
  const inner = text.slice(name.length + 1, -1);
  return splitAt(inner, ',') === null ? null : inner;
}

/** The parts between a sign outside all brackets and quotes; null when brackets or quotes do not close. */
function splitAt(text: string, sign: string): readonly string[] | null {
  const signs = blanked(text);
  if (signs === null) return null;
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at < signs.length; at++) {
    const char = signs.charAt(at);
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) {
      if (--depth < 0) return null;
    } else if (depth === 0 && signs.startsWith(sign, at)) {
      parts.push(text.slice(start, at));
      start = at + sign.length;
      at = start - 1;
    }
  }
  return depth === 0 ? [...parts, text.slice(start)] : null;
}
