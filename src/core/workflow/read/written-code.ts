/** As what was a function written, if not as code? One that is made from an expression says nothing by its own source. */
const texts = new WeakMap<object, string>();

/** The text stands for the function wherever a changed function must be noticed. */
export function writtenAs<Code extends object>(code: Code, text: string): Code {
  texts.set(code, text);
  return code;
}

export function textOfCode(code: unknown): string | null {
  return typeof code === 'function' ? (texts.get(code) ?? null) : null;
}
