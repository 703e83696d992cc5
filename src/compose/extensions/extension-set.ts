/** The extensions of a project or a program, in the order in which they start, and what they add. Starts none. */
import type { Place } from '../../config/problem.ts';
import { extensionLimits } from '../../core/extension/extension-limits.ts';
import type { Addition, ExtensionProblem, ExtensionShape } from '../../core/extension/extension-shape.ts';
import { findKinds, type Kinds, withNeeds } from '../../core/extension/find-kinds.ts';
import { orderExtensions } from '../../core/extension/order-extensions.ts';
import { readExtension } from '../../core/extension/read-extension.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Extension } from '../../extension/extension.ts';
import { problemsWithSettings } from './check-settings.ts';

export interface LoadedExtension extends ExtensionShape {
  readonly extension: Extension;
  readonly settings: JsonObject;
  /** Where it is declared; null for one of a program, or of ours. */
  readonly at: Place | null;
  readonly isBuiltIn: boolean;
}

/** A name that is used, of something that extensions add. */
export interface Use {
  readonly addition: Addition;
  readonly kind: string;
}

export interface ExtensionSet {
  readonly order: readonly LoadedExtension[];
  readonly kinds: Kinds;
  /** Those without which something that is used would be missing. */
  readonly used: ReadonlySet<string>;
}

export const noExtensions: ExtensionSet = { order: [], kinds: findKinds([]).kinds, used: new Set() };

export type MadeSet =
  | { readonly ok: true; readonly set: ExtensionSet }
  | { readonly ok: false; readonly problems: readonly ExtensionProblem[] };

export function makeSet(loaded: readonly LoadedExtension[], uses: readonly Use[]): MadeSet {
  const { maxExtensions } = extensionLimits;
  const [first] = loaded;
  if (loaded.length > maxExtensions && first !== undefined)
    return { ok: false, problems: [tooMany(first.name, maxExtensions)] };
  const ordered = orderExtensions(loaded);
  const { kinds, problems } = findKinds(loaded);
  if (!ordered.ok || problems.length > 0)
    return { ok: false, problems: [...(ordered.ok ? [] : ordered.problems), ...problems] };
  const owners = uses.flatMap(({ addition, kind }) => kinds.ownerOf(addition, kind) ?? []);
  return { ok: true, set: { order: ordered.order, kinds, used: withNeeds(new Set(owners), loaded) } };
}

const tooMany = (extension: string, most: number): ExtensionProblem => ({
  code: 'ShapeInvalid',
  extension,
  message: `there are more than ${most} extensions`,
  fix: 'leave some out',
});

/** `exported`: what its module exports as its default. */
export function loadedOf(
  exported: unknown,
  {
    called,
    settings,
    at,
    isBuiltIn,
  }: Pick<LoadedExtension, 'settings' | 'at' | 'isBuiltIn'> & { readonly called: string },
): { readonly loaded: LoadedExtension | null; readonly problems: readonly ExtensionProblem[] } {
  const read = readExtension(exported, called);
  if (!read.ok) return { loaded: null, problems: read.problems };
  const extension = exported as Extension;
  const wrong = problemsWithSettings(extension.settings, settings, `the extension '${called}'`);
  const problems = wrong.map(({ message, fix }) => ({
    code: 'ShapeInvalid' as const,
    extension: called,
    message,
    fix,
  }));
  return { loaded: { ...read.shape, extension, settings, at, isBuiltIn }, problems };
}

/** What an extension adds under this name; undefined if none does. */
export function addedBy<Of extends Addition>(
  { order, kinds }: ExtensionSet,
  addition: Of,
  kind: string,
): { readonly added: NonNullable<Extension[Of]>[string]; readonly owner: LoadedExtension } | undefined {
  const owner = order.find(({ name }) => name === kinds.ownerOf(addition, kind));
  const added = owner?.extension[addition]?.[kind];
  if (owner === undefined || added === undefined) return undefined;
  return { added: added as NonNullable<Extension[Of]>[string], owner };
}
