/** Finds the file of a module: by its path, or by the name of a package as it is installed beside the configuration. */
import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject } from '../../core/values/json.ts';

export type FoundModule = { readonly file: string } | { readonly message: string; readonly fix: string };

/** `./x.ts`, `/x/y.ts` and `x.ts` are paths; anything else is the name of a package. */
const isPath = (module: string): boolean => /^[./\\]/.test(module) || /\.[mc]?[jt]s$/.test(module);

export function findModule(module: string, folder: string): FoundModule {
  if (isPath(module)) return { file: path.resolve(folder, module) };
  const beside = path.join(folder, 'package.json');
  try {
    return { file: createRequire(beside).resolve(module) };
  } catch (error) {
    const file = importOnly(module, beside, error);
    if (file !== null) return { file };
    return {
      message: `there is no package '${module}' that can be imported`,
      fix: 'install it beside this file; a path begins with ./',
    };
  }
}

/** A package may name its module for `import` alone. */
function importOnly(module: string, beside: string, error: unknown): string | null {
  if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') return null;
  const manifest = findPackageJSON(module, pathToFileURL(beside));
  if (manifest === undefined) return null;
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly exports?: unknown };
  const main = isObject(exports) && '.' in exports ? exports['.'] : exports;
  const chosen = isObject(main) ? main['import'] : null;
  const file = isObject(chosen) ? chosen['default'] : chosen;
  return typeof file === 'string' ? path.resolve(path.dirname(manifest), file) : null;
}
