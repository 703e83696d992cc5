/**
 * Chooses the effect class of each listed tool, and whether the first recourse.yaml permits or defers it. Hints of the
 * server count only here, where a person sees the result. Pure.
 */
import { saysReadOnly } from '../../adapters/upstream-mcp/tools/tool-entry.ts';
import type { ErrorMeaning } from '../../config/config.ts';
import { knownTool, packageStarted } from '../../config/known-servers.ts';
import type { LockedTool } from '../../config/lock.ts';
import { compileToolPattern } from '../../core/policy/tool-pattern.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import type { FoundServer } from './client-servers.ts';

export interface DeclaredTool {
  /** Its server's own name for it. */
  readonly name: string;
  readonly effect: EffectClass;
  readonly onError: ErrorMeaning | null;
  readonly decision: 'permit' | 'defer';
  /** For the person. */
  readonly why: string;
}

export interface DeclaredTools {
  readonly tools: readonly DeclaredTool[];
  /** Tools whose names would be a pattern in a rule; no rule permits them. */
  readonly unnamed: readonly string[];
}

/** In a declaration * and ? are wildcards: a tool named * must not match all. */
const nameable = /^(?!__proto__$)[\p{L}\p{M}\p{N}_.:@/-]{1,128}$/u;

const isNameable = (name: string) => nameable.test(name) && compileToolPattern(name).ok;

export function declareTools({ connect }: FoundServer, listed: ReadonlyMap<string, LockedTool>): DeclaredTools {
  const started = 'command' in connect ? packageStarted(connect.command, connect.args) : null;
  const names = [...listed.keys()].toSorted();
  return {
    tools: names.filter(isNameable).flatMap((name) => {
      const tool = listed.get(name);
      return tool === undefined ? [] : [declare(name, tool, started)];
    }),
    unnamed: names.filter((name) => !isNameable(name)),
  };
}

function declare(name: string, { sha256, annotations }: LockedTool, started: string | null): DeclaredTool {
  const known = knownTool(started, name, sha256);
  if (known !== null) {
    const { effect, onError } = known;
    return { name, effect, onError, decision: decisionOn(effect), why: `known, of ${started}` };
  }
  const hints = annotations ?? {};
  const effect = saysReadOnly(hints) ? 'pure' : 'plain';
  const isTorn = hints['readOnlyHint'] === true && hints['destructiveHint'] === true;
  const why = isTorn
    ? 'its server says that it only reads, and that it destroys'
    : effect === 'pure'
      ? 'its server says that it only reads'
      : 'nothing says that it only reads';
  return { name, effect, onError: null, decision: decisionOn(effect), why };
}

const decisionOn = (effect: EffectClass) => (effect === 'pure' ? 'permit' : 'defer');
