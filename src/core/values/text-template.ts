/** Parses a text with `{name}` in it. `{{` and `}}` stand for the braces themselves. Pure. */

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string };

export type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly problem: string };

const sign = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;

export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  let plain = '';
  let from = 0;
  const flush = () => {
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    plain = '';
  };
  for (const match of text.matchAll(sign)) {
    plain += text.slice(from, match.index);
    from = match.index + match[0].length;
    if (match[0] === '{{' || match[0] === '}}') plain += match[0][0];
    else if (match[1] === undefined) return { ok: false, problem: `a single '${match[0]}' stands in it` };
    else if (match[1] === '') return { ok: false, problem: "'{}' names no argument" };
    else {
      flush();
      parts.push({ kind: 'name', name: match[1] });
    }
  }
  plain += text.slice(from);
  flush();
  return { ok: true, parts };
}

/** The names in a text; none if it cannot be parsed. */
export function namesInTemplate(text: string): readonly string[] {
  const parsed = parseTemplate(text);
  return parsed.ok ? parsed.parts.flatMap((part) => (part.kind === 'name' ? [part.name] : [])) : [];
}
