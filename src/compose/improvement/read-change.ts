/**
 * Reads a proposed change: entries for the playbook, or a whole recourse.yaml in place of the one that is in force.
 * Everything is checked as `recourse check` does. Starts nothing and changes nothing.
 */
import path from 'node:path';
import type { Problem } from '../../config/problem.ts';
import { readConfig } from '../../config/read-config.ts';
import { joinRecovery } from '../../core/recovery/declared.ts';
import { missingPairs, type PartialPlaybook, type ToolRecovery } from '../../core/recovery/playbook.ts';
import type { Candidate } from '../../shell/improvement/replay-change.ts';
import type { WrittenChange } from '../../shell/improvement/improvements.ts';
import { knownCatalogue } from '../project/known-catalogue.ts';
import { loadGoldens } from '../project/load-goldens.ts';
import { loadProject, type Project } from '../project/load-project.ts';
import { levelsFor, type RecoveryConfig, recoveryOf } from '../upstreams/tool-recovery.ts';
import { playbookText } from './playbook-text.ts';

/** The name of what was proposed, in problems. */
const shown = 'the proposal';
const maxProblems = 5;

/** `project` is the one in force; `cwd` the folder that it was loaded in. */
export async function readChange(
  { playbook, config }: WrittenChange,
  project: Project,
  cwd: string,
): Promise<Candidate | { readonly problem: string }> {
  if ((playbook === undefined) === (config === undefined))
    return { problem: 'propose either entries for the playbook, or a whole recourse.yaml' };
  const now = recoveryOf(project.config, project.models);
  const read = playbook === undefined ? await readWhole(config ?? '', project, cwd) : readEntries(playbook, now);
  if ('problem' in read) return read;
  const file = project.file === null ? undefined : path.relative(cwd, project.file);
  const { goldens } = await loadGoldens(cwd, [], file);
  return {
    playbook: playbookText(read.recovery),
    recoveryNow: recoveriesIn(now),
    recoveryThen: recoveriesIn(read.recovery),
    goldens,
    policy: read.policy,
  };
}

interface Read extends Pick<Candidate, 'policy'> {
  readonly recovery: RecoveryConfig;
}

/** Laid over the playbook of the gateway, entry by entry. */
function readEntries(text: string, now: RecoveryConfig): Read | { readonly problem: string } {
  const lines = text.split('\n').map((line) => `  ${line}`);
  const read = readConfig(['playbook:', ...lines].join('\n'), shown);
  const problems = read.allProblems();
  if (problems.length > 0) return { problem: sentencesOf(problems.map((each) => ({ ...each, line: each.line - 1 }))) };
  const own = now.playbook.declared.playbook ?? {};
  const added = read.config.playbook.declared.playbook ?? {};
  const merged: PartialPlaybook = Object.fromEntries(
    [...new Set([...Object.keys(own), ...Object.keys(added)])].map((verdict) => {
      const name = verdict as keyof PartialPlaybook;
      return [verdict, { ...own[name], ...added[name] }];
    }),
  );
  const declared = { ...now.playbook.declared, playbook: merged };
  const missing = missingPairs(joinRecovery('', [declared]).playbook);
  if (missing.length > 0) return { problem: `the playbook would say nothing about ${missing.join(', ')}` };
  return { recovery: { ...now, playbook: { ...now.playbook, declared } }, policy: null };
}

async function readWhole(text: string, project: Project, cwd: string): Promise<Read | { readonly problem: string }> {
  if (project.file === null) return { problem: 'the gateway was started without a recourse.yaml' };
  const loaded = await loadProject({ cwd, file: path.relative(cwd, project.file), text });
  if (!loaded.ok) return { problem: sentencesOf(loaded.problems) };
  const then = loaded.project;
  const recovery = recoveryOf(then.config, then.models);
  const isSame = then.policy === null || then.policy.canonical === project.policy?.canonical;
  if (then.policy === null || isSame) return { recovery, policy: null };
  const { toolNamed } = knownCatalogue(then);
  return {
    recovery,
    policy: { text: then.policy.canonical, now: project.policy, then: then.policy, toolNamed },
  };
}

/** What counts for each tool. */
export function recoveriesIn(config: RecoveryConfig): (tool: string) => ToolRecovery {
  return (tool) =>
    joinRecovery(
      tool.split('/', 1)[0] ?? tool,
      levelsFor(tool, config).map((level) => level.declared),
    );
}

const sentencesOf = (problems: readonly Pick<Problem, 'file' | 'line' | 'message' | 'fix'>[]): string =>
  problems
    .slice(0, maxProblems)
    .map(({ file, line, message, fix }) => `${file}:${line}: ${message}; ${fix}`)
    .join(' | ');
