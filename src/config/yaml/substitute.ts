/** What does a text say once `${NAME}` is replaced by the environment? `$${` stands for `${` itself. */
export type Substituted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string; readonly fix: string };

const written = /\$\$\{|\$\{([^}]*)\}?/g;
const usable = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Without an environment the text is only checked. */
export function substitute(text: string, env: Readonly<Record<string, string | undefined>> | undefined): Substituted {
  let failed: Substituted | null = null;
  const filled = text.replace(written, (whole: string, name: string | undefined) => {
    if (whole === '$${') return env === undefined ? whole : '${';
    if (name === undefined || !whole.endsWith('}') || !usable.test(name)) {
      failed ??= {
        ok: false,
        problem: `'${whole.slice(0, 40)}' names no variable`,
        fix: 'write ${NAME}, or $${ for the signs themselves',
      };
      return '';
    }
    if (env === undefined) return whole;
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined)
      failed ??= { ok: false, problem: `the environment has no ${name}`, fix: `set ${name} before starting` };
    return value ?? '';
  });
  return failed ?? { ok: true, text: filled };
}
