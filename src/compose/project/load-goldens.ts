/**
 * Loads goldens, from the named files or from the folder beside the configuration, and what the configuration says
 * about failures. Also finds the entries of a playbook that no golden covers. Starts no server. Must not print.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type Config, configName } from '../../config/config.ts';
import { goldenLimits, readGolden, type WrittenPair, writtenPairs } from '../../config/golden/read-golden.ts';
import { createProblemList, type Place, type Problem, placeAt, type Warning } from '../../config/problem.ts';
import { plainOf } from '../../config/shape/read-shape.ts';
import { mapOf } from '../../config/yaml/plain-values.ts';
import { readYaml, type Tree } from '../../config/yaml/yaml-tree.ts';
import type { Golden } from '../../core/recovery/golden.ts';
import { joinRecovery } from '../../core/recovery/declared.ts';
import { recoveryOfUpstream, type ToolRecovery } from '../../core/recovery/playbook.ts';
import { runGolden, verdictsIn } from '../../core/recovery/run-golden.ts';
import type { LoadedGoldens } from '../../doors/cli/recovery/golden.ts';
import { loadProject } from './load-project.ts';
import { displayPath, readText } from './read-project-files.ts';
import { levelsFor, recoveryOf as declaredRecovery } from '../upstreams/tool-recovery.ts';

const folderName = 'goldens';
const maxFiles = 10_000;

export async function loadGoldens(
  cwd: string,
  named: readonly string[],
  config: string | undefined,
): Promise<LoadedGoldens> {
  const file = path.resolve(cwd, config ?? configName);
  // Without a configuration the default playbook is in force.
  const isThere = config !== undefined || existsSync(file);
  const loaded = isThere ? await loadProject({ cwd, ...(config === undefined ? {} : { file: config }) }) : null;
  const recoveryOf = loaded !== null && loaded.ok ? recoveryIn(loaded.project.config) : byDefault;
  if (loaded !== null && !loaded.ok) return { problems: loaded.problems, goldens: [], recoveryOf };
  const files = named.length > 0 ? named.map((name) => path.resolve(cwd, name)) : await filesBeside(file);
  if (files.length === 0) {
    const folder = displayPath(config, path.join(path.dirname(file), folderName), cwd);
    return {
      problems: [problemAt(folder, 'there are no goldens', 'write one, or name a file')],
      goldens: [],
      recoveryOf,
    };
  }
  const read = await Promise.all(files.map((each) => readOne(each, displayPath(config, each, cwd))));
  return {
    problems: read.flatMap(({ problems }) => problems),
    goldens: read.flatMap(({ golden }) => (golden === null ? [] : [golden])),
    recoveryOf,
  };
}

const upstreamIn = (tool: string): string => tool.split('/', 1)[0] ?? tool;

const byDefault = (tool: string): ToolRecovery => recoveryOfUpstream(upstreamIn(tool));

/** What counts for a tool, as the configuration says. */
function recoveryIn(config: Config): (tool: string) => ToolRecovery {
  const declared = declaredRecovery(config);
  return (tool) =>
    joinRecovery(
      upstreamIn(tool),
      levelsFor(tool, declared).map((level) => level.declared),
    );
}

async function filesBeside(config: string): Promise<readonly string[]> {
  const folder = path.join(path.dirname(config), folderName);
  if (!existsSync(folder)) return [];
  const names = (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name)).sort();
  return names.slice(0, maxFiles).map((name) => path.join(folder, name));
}

async function readOne(file: string, shown: string) {
  const text = await readText(file, goldenLimits.maxChars * 4);
  if (text.ok) return readGolden(text.text, shown);
  return {
    golden: null,
    problems: [problemAt(shown, text.message, text.isMissing ? 'write it, or name another' : text.fix)],
  };
}

const problemAt = (file: string, message: string, fix: string): Problem => ({
  code: 'ShapeInvalid',
  ...placeAt(file),
  text: '',
  message,
  fix,
});

/** A warning for each entry of a playbook in the configuration that no golden beside it covers. */
export async function warnUncovered(cwd: string, config: string | undefined): Promise<readonly Warning[]> {
  const file = path.resolve(cwd, config ?? configName);
  const text = await readText(file);
  if (!text.ok) return [];
  const shown = displayPath(config, file, cwd);
  const list = createProblemList(shown, text.text);
  const tree = readYaml(text.text, shown, list.tell);
  const playbooks = tree === null ? [] : playbooksIn(tree);
  if (playbooks.length === 0) return [];
  const read = await Promise.all((await filesBeside(file)).map((each) => readOne(each, each)));
  const covered = coveredBy(read.flatMap(({ golden }) => (golden === null ? [] : [golden])));
  for (const { at, pairs } of playbooks)
    for (const pair of pairs)
      if (!covered(pair)) {
        const what = pair.effect === null ? pair.verdict : `${pair.verdict} of ${pair.effect} tools`;
        const fix = `add one to ${folderName}/, by hand or with: recourse golden record <call>`;
        list.warn(at(pair.verdict), `no golden covers what the playbook says about ${what}`, fix);
      }
  return list.warnings();
}

interface FoundPlaybook {
  readonly pairs: readonly WrittenPair[];
  readonly at: (verdict: string) => Place;
}

/** The playbook of the file, and those of servers and tools in it. */
function playbooksIn(tree: Tree): readonly FoundPlaybook[] {
  if (tree.kind !== 'map') return [];
  const own = tree.entries.get('playbook')?.value;
  const found =
    own?.kind === 'map'
      ? [
          {
            pairs: writtenPairs(mapOf(plainOf(own))),
            at: (verdict: string) => own.entries.get(verdict)?.keyAt ?? own.at,
          },
        ]
      : [];
  const tools = tree.entries.get('tools')?.value;
  const below = tools?.kind === 'map' ? [...tools.entries.values()].flatMap(({ value }) => playbooksIn(value)) : [];
  return [...found, ...below];
}

function coveredBy(goldens: readonly Golden[]): (pair: WrittenPair) => boolean {
  const seen = goldens.flatMap((golden) =>
    verdictsIn(runGolden(golden, byDefault(golden.call.tool))).map((verdict) => ({
      verdict,
      effect: golden.call.effect,
    })),
  );
  return (pair) =>
    seen.some(({ verdict, effect }) => verdict === pair.verdict && (pair.effect === null || pair.effect === effect));
}
