/**
 * Finds what is done about failures of a tool, and where each part of it is declared, from the configuration and the
 * lock. Starts nothing.
 */
import crypto from 'node:crypto';
import path from 'node:path';
import { configName, emptyConfig, type WrittenRecovery } from '../../config/config.ts';
import { refOf } from '../../config/problem.ts';
import { joinRecovery } from '../../core/recovery/declared.ts';
import { type EffectiveRow, effectiveRows, fixedRules } from '../../core/recovery/effective-playbook.ts';
import { recoveryText } from '../../core/recovery/playbook.ts';
import { defaultLimits } from '../../core/limits.ts';
import { type EffectClass, effectClasses } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { PlaybookFound } from '../../doors/cli/commands/playbook.ts';
import { levelsFor } from '../upstreams/tool-recovery.ts';
import { knownCatalogue } from './known-catalogue.ts';
import { loadProject, type Project } from './load-project.ts';
import { readText } from './read-project-files.ts';
import { recoveryOf } from '../upstreams/tool-recovery.ts';

const allClasses = Object.keys(effectClasses) as EffectClass[];

export async function showPlaybook(tool: string, file: string | undefined): Promise<PlaybookFound> {
  const cwd = process.cwd();
  const there = file === undefined ? await readText(path.resolve(cwd, configName)) : null;
  // A program that declares its tools itself has no file.
  if (there?.ok === false && there.isMissing) {
    const remarks = [`there is no ${configName} here: these are the defaults`];
    return shown(tool, { config: emptyConfig, models: [], classes: allClasses, remarks });
  }
  const loaded = await loadProject({ cwd, ...(file === undefined ? {} : { file }) });
  if (!loaded.ok) return { kind: 'problems', problems: loaded.problems };
  const { config, models } = loaded.project;
  if (tool === '') return shown(tool, { config, models, classes: allClasses, remarks: [] });
  const found = findTool(tool, loaded.project);
  return 'message' in found ? { kind: 'unknown', ...found } : shown(tool, { config, models, ...found });
}

interface Found {
  readonly classes: readonly EffectClass[];
  readonly remarks: readonly string[];
}

function findTool(tool: string, { config, workflows }: Project): Found | { readonly message: string } {
  const known = knownCatalogue({ config, workflows });
  const [name] = tool.split('/', 1);
  const server = config.tools.find((each) => each.name === name);
  const isOpen = server !== undefined && tool.includes('/') && config.lock?.servers.has(server.name) !== true;
  if (!known.isPinned(tool) && !isOpen) {
    const near = nearest(tool, known.tools?.map((each) => each.name) ?? []);
    return { message: `there is no tool '${tool}'${near === null ? '' : `; did you mean ${near}?`}` };
  }
  const classes = [known.toolNamed(tool).effect];
  const remark = `'${tool}' is not in recourse.lock: its effect class is what the file says, or plain`;
  return { classes, remarks: known.isPinned(tool) ? [] : [remark] };
}

function shown(
  tool: string,
  { config, models, classes, remarks }: Found & Pick<Project, 'config' | 'models'>,
): PlaybookFound {
  const levels = levelsFor(tool, recoveryOf(config, models));
  const upstream = tool.split('/', 1)[0] ?? '';
  const recovery = joinRecovery(
    upstream,
    levels.map(({ declared }) => declared),
  );
  const { maxRetryAfterMs } = { ...defaultLimits, ...config.runtime.limits };
  // Without a tool there is no record that has this hash.
  const text = tool === '' ? canonicalText(recovery.playbook) : recoveryText(recovery);
  return {
    kind: 'shown',
    tool: tool === '' ? null : tool,
    rows: effectiveRows(recovery, classes).map((row) => ({ ...row, from: fromOf(row, levels) })),
    recovery,
    from: {
      breaker: lastPlace('breaker', levels),
      quarantine: lastPlace('quarantine', levels),
      reconcile: lastPlace('reconcile', levels),
    },
    fixed: fixedRules(maxRetryAfterMs),
    remarks,
    hash: crypto.hash('sha256', text, 'hex'),
  };
}

function fromOf({ verdict, effectClass, byRetryRule }: EffectiveRow, levels: readonly WrittenRecovery[]): string {
  if (byRetryRule) return lastPlace('retry', levels);
  const says = levels.filter(({ declared }) => declared.playbook?.[verdict]?.[effectClass] !== undefined);
  return lastPlace(verdict, says);
}

function lastPlace(key: string, levels: readonly WrittenRecovery[]): string {
  const place = levels.findLast(({ places }) => places.has(key))?.places.get(key);
  return place === undefined ? 'default' : refOf(place);
}
