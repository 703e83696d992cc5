/** What a lock file must say: every package that any platform installs, by version and hash, and no address. */
import type { Tree } from './read-source.ts';

interface Locked {
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

export const lockFileWithoutAddresses = eachLockFile((text) =>
  /"resolved"\s*:/.test(text) ? ['names the address of a package'] : [],
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
      ...(at !== '' && locked.integrity === undefined && locked.inBundle !== true ? [`has no hash of ${at}`] : []),
    ];
  });
});

/** Looked for as Node does: beside the package that asks, then in every folder above it. */
function isFound(packages: Packages, at: string, name: string): boolean {
  const inside = at === '' ? '' : `${at}/`;
  if (Object.hasOwn(packages, `${inside}node_modules/${name}`)) return true;
  return at !== '' && isFound(packages, at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/'))), name);
}
