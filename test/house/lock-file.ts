/** What a lock file must say: every package that any platform installs, by version and hash, and no address. */
import type { Tree } from './read-source.ts';

interface Locked {
  /** Of a workspace and of the link to it: its folder. */
  readonly resolved?: string;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, Locked>>;

const eachLockFile = (judge: (text: string) => readonly string[]) => (tree: Tree) =>
  [...tree]
    .filter(([file]) => file.split('/').at(-1) === 'package-lock.json')
    .flatMap(([file, text]) => judge(text).map((complaint) => `${file}: ${complaint}`));

/** A link to a workspace says in which folder it is. */
export const lockFileWithoutAddresses = eachLockFile((text) =>
  /"resolved"\s*:\s*"(?![a-z-]+")/.test(text) ? ['names the address of a package'] : [],
);

/**
 * npm leaves out what the registry did not have for another platform when the file was written, and `npm ci` then
 * fails.
 */
export const lockFileWhole = eachLockFile((text) => {
  const { packages = {} } = JSON.parse(text) as { readonly packages?: Packages };
  return Object.entries(packages).flatMap(([at, locked]) => {
    const asked = { ...locked.dependencies, ...locked.devDependencies, ...locked.optionalDependencies };
    return [
      ...Object.keys(asked)
        .filter((name) => !isFound(packages, at, name))
        .map((name) => `lacks ${name}, which ${at === '' ? 'package.json' : at} asks for`),
      ...(isOfOthers(at, locked) && locked.integrity === undefined ? [`has no hash of ${at}`] : []),
    ];
  });
});

/** A package of the registry, and not a folder of the project. */
const isOfOthers = (at: string, { link, inBundle }: Locked): boolean =>
  at.includes('node_modules/') && link !== true && inBundle !== true;

/** Looked for as Node does: beside the package that asks, then in every folder above it. */
function isFound(packages: Packages, at: string, name: string): boolean {
  const inside = at === '' ? '' : `${at}/`;
  if (Object.hasOwn(packages, `${inside}node_modules/${name}`)) return true;
  return at !== '' && isFound(packages, at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/'))), name);
}
