/**
 * Loads a policy and the test cases for it: from the named files, or from those beside the configuration. Starts no
 * server. Must not print.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { configName } from '../../config/config.ts';
import { policyTestLimits, readPolicyTests } from '../../config/policy-tests.ts';
import { type Problem, placeAt } from '../../config/problem.ts';
import type { Json } from '../../core/values/json.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { CaseTool, PolicyCase } from '../../core/policy/test-policy.ts';
import { knownCatalogue } from './known-catalogue.ts';
import { loadProject } from './load-project.ts';
import { readText, displayPath } from './read-project-files.ts';

export interface LoadedPolicyTests {
  readonly problems: readonly Problem[];
  /** Null with problems. */
  readonly policy: Policy | null;
  readonly cases: readonly PolicyCase[];
  readonly toolNamed: (name: string) => CaseTool;
  /** False: the assumptions about it may be wrong. */
  readonly isPinned: (name: string) => boolean;
  readonly refusalOf: (name: string, args: Json) => string | null;
  /** The files of cases, for display. */
  readonly files: readonly string[];
}

const ownName = 'recourse.test.yaml';
const maxFiles = 1_000;

export async function loadPolicyTests(
  cwd: string,
  named: readonly string[],
  config: string | undefined,
): Promise<LoadedPolicyTests> {
  const shown = config ?? configName;
  const loaded = await loadProject({ cwd, ...(config === undefined ? {} : { file: config }) });
  if (!loaded.ok) return refused(loaded.problems);
  const { policy } = loaded.project;
  if (policy === null)
    return refused([problemAt(shown, 'no agents are declared, so there is no policy to test', 'add agents')]);
  const folder = path.dirname(path.resolve(cwd, shown));
  const files =
    named.length > 0
      ? named.map((name) => ({ file: path.resolve(cwd, name), shown: displayPath(name, path.resolve(cwd, name), cwd) }))
      : (await filesIn(folder)).map((file) => ({ file, shown: displayPath(shown, file, cwd) }));
  if (files.length === 0)
    return refused([
      problemAt(
        displayPath(shown, path.join(folder, ownName), cwd),
        'there are no policy tests',
        'write some, or name a file',
      ),
    ]);
  const read = await Promise.all(files.map((each) => readCases(each.file, each.shown, [...policy.agents.keys()])));
  const problems = read.flatMap((each) => each.problems);
  const { toolNamed, isPinned, refusalOf } = knownCatalogue(loaded.project);
  return {
    problems,
    policy: problems.length === 0 ? policy : null,
    cases: read.flatMap((each) => each.cases),
    toolNamed,
    isPinned,
    refusalOf,
    files: files.map((each) => each.shown),
  };
}

async function readCases(file: string, shown: string, agents: readonly string[]) {
  const text = await readText(file, policyTestLimits.maxChars * 4);
  if (text.ok) return readPolicyTests(text.text, shown, agents);
  const fix = text.isMissing ? 'write it, or name another file of cases' : text.fix;
  return { cases: [], problems: [problemAt(shown, text.message, fix)] };
}

/** `recourse.test.yaml`, then `*.recourse.test.yaml` by name. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name === ownName || name.endsWith(`.${ownName}`));
  const first = names.filter((name) => name === ownName);
  const others = names.filter((name) => name !== ownName).sort();
  return [...first, ...others].slice(0, maxFiles).map((name) => path.join(folder, name));
}

const problemAt = (file: string, message: string, fix: string): Problem => ({
  code: 'ShapeInvalid',
  ...placeAt(file),
  text: '',
  message,
  fix,
});

function refused(problems: readonly Problem[]): LoadedPolicyTests {
  const toolNamed = (): never => {
    throw new Error('bug: there is no policy to test');
  };
  return { problems, policy: null, cases: [], toolNamed, isPinned: () => false, refusalOf: () => null, files: [] };
}
