/**
 * Loads the extensions of a project: imports their modules, reads what they are, orders them, and checks every use of
 * what they add. Reports each problem at its place. Starts none of them.
 */
import path from 'node:path';
import type { Config } from '../../config/config.ts';
import type { ExtensionConfig, KindUse } from '../../config/extension/extension-config.ts';
import type { Place, Tell } from '../../config/problem.ts';
import { placeOf } from '../../config/shape/read-shape.ts';
import { extensionLimits } from '../../core/extension/extension-limits.ts';
import type { ExtensionProblem } from '../../core/extension/extension-shape.ts';
import { isObject } from '../../core/values/json.ts';
import { importModule } from '../modules/import-module.ts';
import { builtInWith, isBuiltInName, loadBuiltIn } from './built-in.ts';
import { problemsWithSettings } from './check-settings.ts';
import {
  addedBy,
  type ExtensionSet,
  loadedOf,
  type LoadedExtension,
  makeSet,
  noExtensions,
  type Use,
} from './extension-set.ts';
import { findModule } from './find-module.ts';

/** With a problem the set is only for further checks. */
export async function loadExtensions(
  config: Config,
  cwd: string,
  tell: Tell,
  importTimeoutMs = extensionLimits.importTimeoutMs,
): Promise<ExtensionSet> {
  const uses = usesOf(config);
  if (config.extensions.length === 0 && uses.length === 0) return noExtensions;
  const own = await Promise.all(config.extensions.map((each) => loadOne(each, { cwd, tell, importTimeoutMs })));
  const found = own.flatMap((each) => each ?? []);
  const made = makeSet([...(await loadBuiltIn(uses)), ...found], uses);
  const places = new Map(config.extensions.map(({ name, at }) => [name, at]));
  if (!made.ok) {
    const first: Place = config.extensions[0]?.at ?? { file: '', line: 1, column: 1 };
    for (const problem of made.problems) tellAt(places.get(problem.extension) ?? first, problem, tell);
    return noExtensions;
  }
  // What an extension that could not be loaded adds is not known: only what is there can be checked.
  const isWhole = own.every((each) => each !== null);
  for (const use of config.uses) checkUse(use, made.set, isWhole, tell);
  return made.set;
}

/** Everything that a file uses, by a name of its own or by one of the gateway's sections. */
export function usesOf({
  uses,
  credentials,
  notify,
  models,
}: Pick<Config, 'uses' | 'credentials' | 'notify' | 'models'>): readonly Use[] {
  const vault = credentials.some(({ source }) => source.provider === 'vault');
  const smtp = notify.some(({ via }) => via === 'smtp');
  return [
    ...uses,
    ...models.map(({ kind }) => ({ addition: 'models', kind }) as const),
    ...(vault ? [{ addition: 'credentials', kind: 'vault' } as const] : []),
    ...(smtp ? [{ addition: 'notifiers', kind: 'smtp' } as const] : []),
  ];
}

const tellAt = (at: Place, { message, fix, code }: ExtensionProblem, tell: Tell): void => tell(at, message, fix, code);

interface Loading {
  readonly cwd: string;
  readonly tell: Tell;
  readonly importTimeoutMs: number;
}

/** Null if it cannot be used, which has been reported. */
async function loadOne(config: ExtensionConfig, loading: Loading): Promise<LoadedExtension | null> {
  const { cwd, tell, importTimeoutMs } = loading;
  const { name, at, module, settings, tree } = config;
  const folder = path.resolve(cwd, path.dirname(at.file));
  const found = findModule(module, folder);
  if (!('file' in found)) {
    tell(at, found.message, found.fix, 'ShapeInvalid');
    return null;
  }
  const imported = await importModule(found.file, importTimeoutMs);
  if (!imported.ok) {
    for (const { message, fix } of imported.problems) tell(at, message, fix, 'ShapeInvalid');
    return null;
  }
  const { extension, default: exported = extension } = isObject(imported.exported) ? imported.exported : {};
  const { loaded, problems } = loadedOf(exported, { called: name, settings: {}, at, isBuiltIn: false });
  for (const problem of problems) if (loaded === null) tellAt(at, problem, tell);
  if (loaded === null) return null;
  for (const { path: steps, message, fix } of problemsWithSettings(
    loaded.extension.settings,
    settings,
    `the extension '${name}'`,
  ))
    tell(placeOf(tree, steps), message, fix);
  const taken = takenBy(loaded, name);
  if (taken !== null) tell(at, ...taken, 'ShapeInvalid');
  return taken === null ? { ...loaded, settings } : null;
}

function takenBy(loaded: LoadedExtension, name: string): readonly [string, string] | null {
  if (loaded.name !== name)
    return [`the module calls its extension '${loaded.name}', and here it is '${name}'`, 'call both the same'];
  if (isBuiltInName(name)) return [`an extension '${name}' ships with the gateway`, 'give it another name'];
  for (const addition of ['upstreams', 'models', 'credentials', 'notifiers'] as const)
    for (const kind of loaded.adds[addition])
      if (builtInWith({ addition, kind }) !== undefined)
        return [`the extension '${name}' adds '${kind}' to ${addition}, which the gateway has`, 'give it another name'];
  return null;
}

const wordFor = {
  upstreams: 'no extension adds servers of the kind',
  models: 'no extension adds models of the kind',
  credentials: 'no extension adds a source of secrets of the kind',
  notifiers: 'no extension adds a notifier of the kind',
  validators: 'no extension adds a validator',
  costs: 'no extension adds a cost function',
} as const;

function checkUse(
  { addition, kind, settings, at, tree }: KindUse,
  set: ExtensionSet,
  isWhole: boolean,
  tell: Tell,
): void {
  const found = addedBy(set, addition, kind);
  if (found === undefined) {
    if (isWhole) tell(at, `${wordFor[addition]} '${kind}'`, set.kinds.suggest(addition, kind));
    return;
  }
  if (addition === 'validators' || addition === 'costs' || addition === 'models') return;
  const { settings: schema } = found.added as { readonly settings?: Parameters<typeof problemsWithSettings>[0] };
  for (const { path: steps, message, fix } of problemsWithSettings(schema, settings, `the kind '${kind}'`))
    tell(steps.length === 0 ? at : placeOf(tree, steps), message, fix);
}
