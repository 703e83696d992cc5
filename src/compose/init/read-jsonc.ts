/** What does a text of JSON say that may have comments and commas too many, as editors write it? Undefined for what is none. */
export function readJsonc(text: string): unknown {
  return parsed(text) ?? parsed(withoutExtras(text));
}

const token = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;

/** Texts stay as they are, whatever stands in them. */
const withoutExtras = (text: string): string => text.replaceAll(token, (found) => (found.startsWith('"') ? found : ''));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return undefined;
  }
}
