/**
 * Replaces possible secrets in a server's configuration with `${NAME}` and lists the variables to set. In doubt a
 * value is a secret: hiding one too many costs a variable, copying one costs a key. Pure.
 */
export interface Variable {
  readonly name: string;
  /** Where its value was found. */
  readonly meaning: string;
}

export interface Hider {
  /** Null if the text cannot be expressed in a recourse.yaml. */
  env(name: string, value: string): string | null;
  header(name: string, value: string): string | null;
  args(args: readonly string[]): readonly string[] | null;
  url(url: string): string | null;
  /** Of a text that holds no secrets, such as a path. */
  plain(text: string): string | null;
}

export interface HiderParts {
  readonly server: string;
  readonly folder: string;
  readonly home: string;
  /** Those of all servers; new ones are added. */
  readonly variables: Map<string, Variable & { readonly value: string }>;
}

/** A value under such a name is a secret, whatever it looks like. */
const secretName = /key|token|secret|pass|pwd|auth|cred|cookie|session|private|dsn|salt|signature|license|pin$/i;
const flagWord = /^(?:true|false|yes|no|on|off)$/i;
const harmlessWord =
  /^(?:production|development|staging|test|local|default|info|debug|warn|warning|error|trace|verbose|quiet|silent|json|text|utf-?8|stdio|http|https|sse|localhost|127\.0\.0\.1)$/i;
const shortNumber = /^\d{1,6}$/;
const pathLike = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w .,@+()\\/-]*$/;
const knownForm =
  /^(?:sk-|pk-|rk_|gh[pousr]_|github_pat_|glpat-|xox[abposr]-|xapp-|AKIA|ASIA|AIza|ya29\.|eyJ|SG\.|npm_|hf_|lin_api_|ntn_|secret_)/;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function looksSecret(text: string): boolean {
  if (knownForm.test(text) || uuid.test(text)) return true;
  const has = (sort: RegExp) => sort.test(text);
  if (!has(/\d/) || !has(/[A-Za-z]/)) return false;
  if (/^[0-9a-fA-F]{24,}$/.test(text) || /^[a-z0-9]{28,}$/.test(text)) return true;
  return /^[A-Za-z0-9_+/=.~-]{20,}$/.test(text) && has(/[a-z]/) && has(/[A-Z]/);
}

/** Copied only if it clearly is not a secret. */
function isHarmless(name: string, value: string): boolean {
  if (value === '' || flagWord.test(value)) return true;
  if (secretName.test(name)) return false;
  if (harmlessWord.test(value) || shortNumber.test(value)) return true;
  return (pathLike.test(value) || isPlainUrl(value)) && !value.split(/[\\/?&=:]/).some(looksSecret);
}

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^(?:https?|wss?):$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

export function createHider({ server, folder, home, variables }: HiderParts): Hider {
  /** Uses the wanted name unless it is taken for another value. */
  const hide = (wanted: string, value: string, where: string): string => {
    const base = usableName(wanted);
    for (const name of candidates(base, usableName(server))) {
      const known = variables.get(name);
      if (known !== undefined && known.value !== value) continue;
      variables.set(name, known ?? { name, value, meaning: `${where} of the server '${server}'` });
      return `\${${name}}`;
    }
    throw new Error('bug: there is always another name');
  };
  const ownName = (part: string) => `${server}_${part}`;

  /** Translates the client's variables to ours; the text between them goes through `literal`. */
  const translate = (text: string, literal: (part: string) => string, where: string): string | null => {
    let known = true;
    const parts = text.split(/(\$\{[^}]*\})/).map((part) => {
      const inside = /^\$\{([^}]*)\}$/.exec(part)?.[1];
      if (inside === undefined) return literal(part).replaceAll(/\$\{(?![A-Za-z_][A-Za-z0-9_]*\})/g, '$$$${');
      if (inside === 'workspaceFolder') return folder;
      if (inside === 'userHome') return home;
      const named = /^(?:env:|input:)?([A-Za-z_][\w-]{0,99})(?::-[^}]*)?$/.exec(inside)?.[1];
      if (named === undefined) known = false;
      return named === undefined ? '' : hide(named, part, where);
    });
    return known ? parts.join('') : null;
  };

  const hideWords = (part: string, name: string, where: string): string =>
    part.replaceAll(/[^\s'"=,;:/?&()]+/g, (word) => (looksSecret(word) ? hide(name, word, where) : word));

  const hideAll = (name: string, where: string) => (part: string) => (part === '' ? '' : hide(name, part, where));

  const env: Hider['env'] = (name, value) => {
    const where = `env ${name}`;
    if (value.includes('${')) return translate(value, (part) => hideWords(part, name, where), where);
    return isHarmless(name, value) ? value.replaceAll('${', '$${') : hide(name, value, where);
  };

  const arg = (text: string, flag: string | null, at: number): string | null => {
    const where = `argument ${at + 1}`;
    if (flag !== null) return translate(text, hideAll(ownName(flag), where), where);
    const header = /^([A-Za-z][A-Za-z-]*):\s*(\S.*)$/.exec(text);
    if (header !== null && !/^[a-z]+:\/\//i.test(text) && secretName.test(header[1] ?? '')) {
      const [, name = '', value = ''] = header;
      const hidden = headerValue(name, value, where);
      return hidden === null ? null : `${name}:${hidden}`;
    }
    const hideAssigned = (part: string) =>
      part.replaceAll(/([A-Za-z_][\w.-]*)=([^\s'"&]+)/g, (whole, name: string, value: string) =>
        secretName.test(name) && !flagWord.test(value)
          ? `${name}=${hide(/^[A-Z0-9_]+$/.test(name) ? name : ownName(name), value, where)}`
          : whole,
      );
    const hideLogin = (part: string) =>
      part.replaceAll(/(:\/\/)([^\s/@'"]+)@/g, (_, slashes: string, login: string) =>
        login.includes('${') ? `${slashes}${login}@` : `${slashes}${hide(ownName('LOGIN'), login, where)}@`,
      );
    return translate(
      text,
      (part) =>
        keepVariables(hideAssigned(hideLogin(part)), (each) => hideWords(each, ownName(`ARG_${at + 1}`), where)),
      where,
    );
  };

  const headerValue = (name: string, value: string, where: string): string | null => {
    if (/^(?:accept|content-type|user-agent|mcp-protocol-version)$/i.test(name))
      return translate(value, (part) => part, where);
    const [, scheme = '', rest = value] = /^((?:Bearer|Basic|Token)\s+)(.*)$/i.exec(value) ?? [];
    const hidden = translate(rest, hideAll(ownName(name), where), where);
    return hidden === null ? null : `${scheme}${hidden}`;
  };

  return {
    env,
    header: (name, value) => headerValue(name, value, `header ${name}`),
    args(args) {
      const out: string[] = [];
      for (const [at, text] of args.entries()) {
        const before = args[at - 1] ?? '';
        const isValue = /^--?[A-Za-z][\w-]*$/.test(before) && secretName.test(before) && !text.startsWith('-');
        const written = arg(text, isValue ? before.replace(/^-+/, '') : null, at);
        if (written === null) return null;
        out.push(written);
      }
      return out;
    },
    url(text) {
      const where = 'the address';
      if (/^[a-z]+:\/\/[^/]*@/i.test(text)) return null;
      const hideQuery = (part: string) =>
        part.replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (whole, sign: string, name: string, value: string) =>
          value === '' || isHarmless(name, decoded(value))
            ? whole
            : `${sign}${name}=${hide(ownName(name), value, where)}`,
        );
      return translate(
        text,
        (part) => keepVariables(hideQuery(part), (each) => hideWords(each, ownName('PATH'), where)),
        where,
      );
    },
    plain: (text) => translate(text, (part) => part, 'a path'),
  };
}

/** Variables that were inserted are not searched again. */
const keepVariables = (text: string, hide: (part: string) => string): string =>
  text
    .split(/(\$\{[A-Za-z_][A-Za-z0-9_]*\})/)
    .map((part, at) => (at % 2 === 1 ? part : hide(part)))
    .join('');

function* candidates(base: string, server: string): Generator<string> {
  yield base;
  yield `${server}_${base}`.slice(0, 120);
  for (let number = 2; ; number++) yield `${base.slice(0, 110)}_${number}`;
}

const usableName = (text: string): string =>
  text
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')
    .slice(0, 110)
    .toUpperCase() || 'VALUE';

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
