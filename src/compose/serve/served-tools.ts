/**
 * Gives a door its tools, all of them or those of one server, and the names by which clients know them. A door of one
 * server knows no tool of another. Must not decide anything about a call.
 */
import type { Principal } from '../../core/call/call.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import { listedTools } from '../../core/policy/listed-tools.ts';
import type { Reply } from '../../core/call/reply.ts';
import { toolNames } from '../../doors/mcp/model-names.ts';
import type { DirectTools, ModelNames } from '../../doors/mcp/parts.ts';
import { handleCall } from '../../shell/call/handle-call.ts';
import { policyOf, type Shell } from '../../shell/shell.ts';
import type { OpenedGateway } from './keep-open.ts';

export interface ServedPart {
  /** The server whose tools alone are served; null for all. */
  readonly only: string | null;
  /** Names of what else is served at the same door. */
  readonly taken: () => readonly string[];
}

type Heard = (caller: Principal, call: Promise<Reply>) => Promise<Reply>;

export function servedTools(current: () => OpenedGateway, served: ServedPart, heard: Heard): DirectTools {
  const { only, taken } = served;
  const shell = () => scopedShell(current().shell, only);
  const names = remembered((catalogue: Catalogue): ModelNames => {
    const { serverNames, bareServers } = current().upstreams;
    return toolNames({
      tools: catalogue.keys(),
      servers: serverNames,
      bare: bareServers,
      only,
      taken: new Set(taken()),
    });
  });
  return {
    names: () => names(shell().catalogue()),
    catalogue: ({ agent }) => listedTools(shell().catalogue(), policyOf(agent, shell())),
    isDeclared: (tool) => shell().catalogue().has(tool),
    call: (raw, caller, from) => heard(caller, handleCall(raw, caller, from, shell())),
  };
}

const scopes = new WeakMap<Shell, Map<string, Shell>>();

/** The same gateway with only the tools of one server in its catalogue. */
export function scopedShell(shell: Shell, only: string | null): Shell {
  if (only === null) return shell;
  const known = scopes.get(shell) ?? new Map<string, Shell>();
  scopes.set(shell, known);
  const catalogueOf = remembered(
    (whole: Catalogue): Catalogue => new Map([...whole].filter(([name]) => name.startsWith(`${only}/`))),
  );
  const scoped = known.get(only) ?? { ...shell, catalogue: () => catalogueOf(shell.catalogue()) };
  known.set(only, scoped);
  return scoped;
}

/** Recomputed only when its source is another object. */
function remembered<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  let last: { readonly from: From; readonly made: Made } | null = null;
  return (from) => {
    if (last?.from !== from) last = { from, made: make(from) };
    return last.made;
  };
}
