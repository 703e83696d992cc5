/** Finds given texts, the longest first, for a stream that is held back. */
import type { Seeker } from './hold-back.ts';

/** `forms` from the longest to the shortest. */
export function seekForms(forms: readonly string[], shown: string): Seeker {
  const byFirst = new Map<string, string[]>();
  for (const form of forms) byFirst.set(form.charAt(0), [...(byFirst.get(form.charAt(0)) ?? []), form]);
  return {
    at(text, from) {
      const beginning = byFirst.get(text.charAt(from));
      if (beginning === undefined) return nothing;
      const left = text.length - from;
      const rest = text.slice(from);
      const open = beginning.some((form) => form.length > left && form.startsWith(rest));
      const found = beginning.find((form) => form.length <= left && text.startsWith(form, from));
      return { found: found === undefined ? null : { end: from + found.length, shown }, open };
    },
  };
}

const nothing = { found: null, open: false } as const;
