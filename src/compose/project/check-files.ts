/**
 * Checks the files of a project before `apply`. The gateway has its own environment, so problems that come from a
 * variable not set here are left to the gateway.
 */
import path from 'node:path';
import type { CheckedFiles } from '../../doors/cli/commands/apply.ts';
import { type Config, configName } from '../../config/config.ts';
import { readConfig } from '../../config/read-config.ts';
import { checkErrors } from './check-errors.ts';
import { checkLookups } from '../state/find-store.ts';
import { loadProject } from './load-project.ts';
import { readProjectFiles, readText } from './read-project-files.ts';

const request = (config: string | undefined) => ({
  cwd: process.cwd(),
  ...(config === undefined ? {} : { file: config }),
});

export async function checkFiles(config: string | undefined): Promise<CheckedFiles> {
  const { storeOf } = checkLookups(config);
  const loaded = await loadProject({ ...request(config), storeOf });
  const warnings = (loaded.ok ? loaded.project : loaded).warnings.map(
    ({ file, line, message }) => `${file}:${line} ${message}`,
  );
  if (loaded.ok) return { problems: [], errors: checkErrors(loaded.project), warnings };
  const unset = (text: string) =>
    [...text.matchAll(/(?<!\$)\$\{(\w+)\}/g)]
      .map(([, name = '']) => name)
      .filter((name) => process.env[name] === undefined);
  const problems = loaded.problems.filter(({ text }) => unset(text).length === 0);
  const names = [...new Set(loaded.problems.flatMap(({ text }) => unset(text)))];
  const unchecked = names.map((name) => `${name} is not set here, so what uses it is checked by the gateway alone`);
  return { problems, errors: [], warnings: [...warnings, ...unchecked] };
}

export async function onlyAgent(config: string | undefined): Promise<string | undefined> {
  const agents = (await readQuietly(config))?.agents ?? [];
  return agents.length === 1 ? agents[0]?.name : undefined;
}

/** As far as it can be read. */
async function readQuietly(config: string | undefined): Promise<Config | null> {
  const file = path.resolve(config ?? configName);
  const text = await readText(file);
  if (!text.ok) return null;
  const { included } = await readProjectFiles(file, text.text, process.cwd());
  return readConfig(text.text, configName, { included }).config;
}
