/**
 * The house rules: each a pure function from the files of the project to complaints, none when the rule is kept.
 * test/tidy.test.ts runs them on the project, and on small bad trees to see that each can fail.
 */
import path from 'node:path';
import { consoleRules, isConsole } from './console-rules.ts';
import { edgesOf, filesOf, isCode, isSource, layerOf, partOf, type Rule } from './files-of.ts';
import { ignoredErrors } from './ignored-errors.ts';
import { mayImport } from './layers.ts';
import { lockFileWhole, lockFileWithoutAddresses } from './lock-file.ts';
import { needlessTables, ratchetRules } from './ratchet.ts';
import { headerOf, maskSource, referencesOf } from './read-source.ts';

const packagesOf = (text: string) =>
  referencesOf(text)
    .filter(({ kind, specifier }) => kind === 'import' && !specifier.startsWith('.'))
    .map(({ specifier }) => specifier);

const layers: Rule = (tree) =>
  filesOf(tree, isSource).flatMap(([file, text]) => {
    const allowed = mayImport[layerOf(file)];
    if (allowed === undefined) return [`${file}: belongs to no layer`];
    const wrong = edgesOf(tree, file, text).filter((target) => !allowed.includes(layerOf(target)));
    return wrong.map((target) => `${file}: ${layerOf(file)} may not import ${target}`);
  });

/** What several doors, or several adapters, need. It knows none of them. */
const isShared = (file: string) => /^src\/(?:doors|adapters)\/shared\//.test(file);

const siblings: Rule = (tree) =>
  filesOf(tree, isSource).flatMap(([file, text]) => {
    const layer = layerOf(file);
    if (layer !== 'doors' && layer !== 'adapters') return [];
    const isSibling = (to: string) => layerOf(to) === layer && partOf(to, 2) !== partOf(file, 2);
    const wrong = edgesOf(tree, file, text).filter((to) => isSibling(to) && !isShared(to));
    return wrong.map((target) => `${file}: imports its sibling ${target}`);
  });

const cycles: Rule = (tree) => {
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(file)) return [[...trail.slice(trail.indexOf(file)), file].join(' -> ')];
    if (done.has(file)) return [];
    const found = edgesOf(tree, file, tree.get(file) ?? '').flatMap((target) => visit(target, [...trail, file]));
    done.add(file);
    return found;
  };
  return filesOf(tree, isCode).flatMap(([file]) => visit(file, []));
};

const pureEngine = /^(?:ajv|re2js|xstate|@marcbachmann\/cel-js)(?:\/|$)/;
const impureWord =
  /(?<![\w$]|[^.]\.)(?:Date|async|await|Promise|process|globalThis|setTimeout|setInterval|setImmediate|queueMicrotask|TextEncoder|TextDecoder)\b|\bMath\s*\.\s*random\b/g;

const purity: Rule = (tree) =>
  filesOf(tree, (file) => isSource(file) && layerOf(file) === 'core').flatMap(([file, text]) => [
    ...packagesOf(text)
      .filter((name) => !pureEngine.test(name))
      .map((name) => `${file}: the core may not import ${name}`),
    ...[...maskSource(text).matchAll(impureWord)].map(([word]) => `${file}: the core may not say ${word}`),
  ]);

/** Statements that are gone when the types are. `import { type A }` is none of them: the import itself stays. */
const typesOnly = /\b(?:import|export)\s+type\b[^;]*;/g;

const clientAnywhere: Rule = (tree) =>
  filesOf(tree, (file) => isSource(file) && layerOf(file) === 'client').flatMap(([file, text]) => {
    const packages = packagesOf(text).map((name) => `${file}: the client may not import ${name}`);
    const values = edgesOf(tree, file, text.replace(typesOnly, '')).filter((to) => layerOf(to) !== 'client');
    return [...packages, ...values.map((to) => `${file}: the client may import only types of ${to}`)];
  });

const published: Rule = (tree) => {
  const { dependencies = {} } = JSON.parse(tree.get('package.json') ?? '{}') as Manifest;
  const isDeclared = (name: string) =>
    name.startsWith('node:') ||
    Object.keys(dependencies).some((known) => name === known || name.startsWith(`${known}/`));
  return filesOf(tree, isSource).flatMap(([file, text]) => {
    const wrong = packagesOf(text).filter((name) => !isDeclared(name));
    return wrong.map((name) => `${file}: ${name} is not among the dependencies`);
  });
};

const size: Rule = (tree) =>
  filesOf(tree, isCode).flatMap(([file, text]) => {
    const lines = text.trimEnd().split('\n').length;
    return lines > 300 ? [`${file}: ${lines} lines`] : [];
  });

const headers: Rule = (tree) =>
  filesOf(tree, (file) => isSource(file) || isConsole(file)).flatMap(([file, text]) => {
    const { length } = headerOf(text);
    if (length === 0) return [`${file}: opens with no comment`];
    return length > 6 ? [`${file}: its header has ${length} lines`] : [];
  });

const pathOfACall: Rule = (tree) => {
  const stops: { file: string; at: number; last: number; next: string }[] = [];
  const complaints: string[] = [];
  for (const [file, text] of filesOf(tree, isSource)) {
    const line = headerOf(text).find((each) => each.includes('Path of a call'));
    if (line === undefined) continue;
    const mark = /Path of a call: (\d+)\/(\d+)\. Next: (.+)\.$/.exec(line);
    if (mark === null) complaints.push(`${file}: its place on the path of a call cannot be read`);
    else
      stops.push({ file: file.slice('src/'.length), at: Number(mark[1]), last: Number(mark[2]), next: mark[3] ?? '' });
  }
  stops.sort((a, b) => a.at - b.at);
  if (stops.length === 0) complaints.push('no file is on the path of a call');
  for (const [index, { file, at, last, next }] of stops.entries()) {
    const follower = stops[index + 1];
    if (at !== index + 1 || last !== stops.length)
      complaints.push(`${file}: is ${index + 1}/${stops.length}, not ${at}/${last}`);
    const leadsOn = follower === undefined ? !next.endsWith('.ts') : next === follower.file;
    if (!leadsOn) complaints.push(`${file}: next is ${follower?.file ?? 'not a file'}, not ${next}`);
  }
  return complaints;
};

const switches: Rule = (tree) =>
  filesOf(tree, (file) => isSource(file) || isConsole(file)).flatMap(([file, text]) => {
    const masked = maskSource(text);
    const open = [...masked.matchAll(/(?<![\w$.])switch\s*\(/g)].filter(({ index }) => !endsInDefault(masked, index));
    return open.map(
      ({ index }) => `${file}:${masked.slice(0, index).split('\n').length}: switch without a last default`,
    );
  });

/** Whether `default` is the last label of the switch that begins here, leaving out whatever is nested in it. */
function endsInDefault(masked: string, start: number): boolean {
  const label = /(?<![\w$.])(?:case\b|default\s*:)/y;
  let depth = 0;
  let last = '';
  for (let offset = start; offset < masked.length; offset++) {
    const char = masked.charAt(offset);
    if ('({['.includes(char)) depth++;
    if (')}]'.includes(char) && --depth === 0 && char === '}') break;
    label.lastIndex = offset;
    if (depth === 1) last = label.exec(masked)?.[0] ?? last;
  }
  return last.startsWith('default');
}

const inCode =
  (pattern: RegExp, wanted: (file: string) => boolean, complaint: string): Rule =>
  (tree) =>
    filesOf(tree, wanted).flatMap(([file, text]) => (pattern.test(maskSource(text)) ? [`${file}: ${complaint}`] : []));

const inText =
  (pattern: RegExp, complaint: string): Rule =>
  (tree) =>
    [...tree].flatMap(([file, text]) => {
      const found = pattern.exec(text);
      return found === null ? [] : [`${file}: ${complaint}: ${found[0]}`];
    });

const names: Rule = (tree) =>
  filesOf(tree, isCode).flatMap(([file]) => {
    if (!/^(?:[a-z0-9]+(?:-[a-z0-9]+)*[./])+(?:tsx?|js)$/.test(file)) return [`${file}: is not kebab-case`];
    return /\b(?:managers?|helpers?|utils?)\b/.test(path.posix.basename(file))
      ? [`${file}: says nothing by its name`]
      : [];
  });

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const eachManifest = (judge: (manifest: Manifest) => readonly string[]): Rule => {
  const isManifest = (file: string) => path.posix.basename(file) === 'package.json';
  return (tree) =>
    filesOf(tree, isManifest).flatMap(([file, text]) =>
      judge(JSON.parse(text) as Manifest).map((complaint) => `${file}: ${complaint}`),
    );
};

const versions = eachManifest(({ dependencies = {}, devDependencies = {}, allowScripts = {} }) => [
  ...Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    .map(([name, version]) => `${name} is not pinned: ${version}`),
  ...Object.keys(allowScripts)
    .filter((name) => name.lastIndexOf('@') > 0)
    .map((name) => `allowScripts must say the name only: ${name}`),
]);

/** `scripts/start.js` begins with the same check: it must be one process. */
const scripts = eachManifest(({ scripts: lines = {} }) =>
  Object.entries(lines)
    .filter(([, line]) => line !== 'node scripts/start.js' && !line.startsWith('node scripts/need-node.js && '))
    .map(([name]) => `script ${name} does not begin with the check of Node`),
);

const links: Rule = (tree) => {
  const exists = (target: string) => [...tree.keys()].some((file) => file === target || file.startsWith(`${target}/`));
  return filesOf(tree, (file) => file.endsWith('.md')).flatMap(([file, text]) => {
    const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
    return [...prose.matchAll(/\]\((?!\w+:|#)([^)#\s]+)[^)]*\)/g)].flatMap(([, link = '']) => {
      const target = path.posix.join(path.posix.dirname(file), link).replace(/\/$/, '');
      return target === '.' || exists(target) ? [] : [`${file}: ${link} leads nowhere`];
    });
  });
};

const decisions: Rule = (tree) => {
  const index = tree.get('docs/decisions/README.md') ?? '';
  const isDecision = (file: string) => /^docs\/decisions\/\d{4}-[a-z0-9-]+\.md$/.test(file);
  const missing = filesOf(tree, isDecision).filter(([file]) => !index.includes(`(${path.posix.basename(file)})`));
  return missing.map(([file]) => `${file}: is not in the index of decisions`);
};

const continuousIntegration: Rule = (tree) => {
  const lines = (tree.get('.ci/run') ?? '')
    .split('\n')
    .filter((line) => line !== '' && !/^#!|^set |^export CI=true$/.test(line));
  if (lines.length !== 1) return [`.ci/run: has ${lines.length} commands, not one`];
  const said = (tree.get('README.md') ?? '').split('\n').map((line) => line.replace(/\s+#.*$/, '').trim());
  return said.includes(lines[0] ?? '') ? [] : [`.ci/run: README.md does not say \`${lines[0]}\``];
};

const unfinished = /\b(?:TO[D]O|FIX[M]E)\b|\b(?:test|it|suite|describe)\.(?:only|skip|todo)\(/;
const registryHost =
  /\bregistry\.(?:[\w-]+\.)+(?:com|org|net|io|dev|internal|local)\b|\bnpm\.pkg\.|\bregistry\s*=\s*["']?https?:/;
const machinePath = /(?:file:\/\/|(?<![\w.~)}\]/-]))\/(?:work|root|home|Users)\b(?!-)/;

/** The command's first file is plain JavaScript, and no compiler sees what it loads. */
const loadedByTheCommand: Rule = (tree) => {
  const loaded = [...(tree.get('bin/recourse.js') ?? '').matchAll(/\bload\('([^']+)'\)/g)].map(([, name]) => name);
  return loaded
    .filter((name) => !tree.has(`src/${name}.ts`))
    .map((name) => `bin/recourse.js: there is no src/${name}.ts`);
};

export const houseRules = {
  'layers import only downwards': layers,
  'doors and adapters do not know their siblings': siblings,
  ...consoleRules,
  'no import goes in a circle, types included': cycles,
  'the core is pure: itself and the pure engines, no clock, chance or promise': purity,
  'the client runs anywhere: no package, no Node, and of the core only types': clientAnywhere,
  'what is published imports only what it declares': published,
  'no file is longer than 300 lines': size,
  'every source file opens with a header of at most six lines': headers,
  'the path of a call is a chain without gaps': pathOfACall,
  'every switch ends with a default': switches,
  'an error that is ignored says why': ignoredErrors,
  'only the command line writes to the console': inCode(
    /(?<![\w$.])console\s*[.[]/,
    (file) => (file.startsWith('src/') || isConsole(file)) && !file.startsWith('src/doors/cli/'),
    'writes to the console',
  ),
  'nothing is left for later and no test is switched off': inText(unfinished, 'left open'),
  'files of code have kebab-case names that say something': names,
  'no default exports': inCode(
    /\bexport\s+default\b|\bexport\s*\{[^}]*\bdefault\s*[,}]/,
    isCode,
    'has a default export',
  ),
  'package.json pins exact versions': versions,
  'every script begins with the check of Node': scripts,
  'the lock file names no addresses': lockFileWithoutAddresses,
  'the lock file is whole for all platforms': lockFileWhole,
  'no file names a registry host': inText(registryHost, 'names a registry'),
  'no file names a path of a machine': inText(machinePath, 'names a path'),
  'links in documents lead somewhere': links,
  'every decision is in the index': decisions,
  'CI runs the test command of the README and nothing else': continuousIntegration,
  'the command loads files that are there': loadedByTheCommand,
  ...ratchetRules,
  'a table is named only where one is': needlessTables,
} satisfies Record<string, Rule>;
