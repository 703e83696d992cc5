/**
 * Checks the reads that settle doubts against the tools that are known: each must exist and have no effect. Tools of a
 * server that is not pinned are unknown, but not what the configuration says about them.
 */
import { type Config, upstreamsIn } from '../../config/config.ts';
import type { Tell } from '../../config/problem.ts';
import { nearest } from '../../core/values/nearest.ts';
import { pinnedTools, unpinned } from './known-catalogue.ts';
import { recoveryOf } from '../upstreams/tool-recovery.ts';

export function checkReconcile(config: Config, tell: Tell): void {
  const reads = recoveryOf(config).servers.flatMap(({ rules }) =>
    rules.flatMap(({ recovery }) => {
      const tool = recovery?.declared.reconcile?.tool;
      const at = recovery?.places.get('reconcile');
      return tool === undefined || at === undefined ? [] : [{ tool, at }];
    }),
  );
  if (reads.length === 0) return;
  const pinned = pinnedTools(config);
  for (const { tool, at } of reads) {
    const problem = problemWith(tool, config, pinned);
    if (problem !== null) tell(at, ...problem);
  }
}

type Problem = readonly [message: string, fix: string];

function problemWith(tool: string, config: Config, pinned: ReturnType<typeof pinnedTools>): Problem | null {
  const name = tool.slice(0, tool.indexOf('/'));
  const server = config.tools.find((each) => each.name === name);
  const servers = upstreamsIn(config).map((each) => each.name);
  if (!servers.includes(name))
    return [`reconcile names '${tool}', and there is no server '${name}'`, hint(name, servers)];
  const isPinned = config.lock?.servers.has(name) === true;
  // The tools of an API are known from the files.
  const isKnown = isPinned || server === undefined;
  const entry = pinned.get(tool) ?? (isKnown ? undefined : unpinned(tool, config.tools));
  if (entry === undefined)
    return [`reconcile names '${tool}', and there is no such tool`, hint(tool, [...pinned.keys()])];
  // Without a lock only the server knows its annotations.
  if (entry.effectClass === 'pure' || (!isPinned && server?.trustAnnotations === true)) return null;
  return [
    `reconcile names '${tool}', which is ${entry.effectClass}: a read that settles a doubt must have no effect`,
    `if it only reads, declare it: effect: pure`,
  ];
}

function hint(wanted: string, known: readonly string[]): string {
  const near = nearest(wanted, known);
  return near === null ? 'correct the name' : `did you mean ${near}?`;
}
