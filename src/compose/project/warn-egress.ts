/**
 * Warns about egress lists that lack the host of an upstream which a rule of the same agent could permit: such a call
 * passes every other gate and is refused there. Resolves nothing.
 */
import type { Config } from '../../config/config.ts';
import type { Place, Warn } from '../../config/problem.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import { type Destination, destinationOf } from '../../core/egress/destination.ts';
import { permitsName } from '../../core/egress/egress-list.ts';
import type { AgentPolicy, Policy, WrittenAgent } from '../../core/policy/policy.ts';
import { compileToolPattern, matchesTool } from '../../core/policy/tool-pattern.ts';

export function warnEgress(
  { tools, apis, agents }: Config,
  models: readonly ModelProvider[],
  policy: Policy | null,
  warn: Warn,
): void {
  const upstreams = [
    ...[...apis, ...models].map(({ name, url }) => ({ name, to: destinationOf(url) })),
    ...tools.flatMap(({ name, connect }) =>
      connect.kind === 'http' ? [{ name, to: destinationOf(connect.url) }] : [],
    ),
  ];
  for (const agent of policy?.agents.values() ?? []) {
    const at = placeOf(agent, agents);
    for (const { name, to } of upstreams) {
      if (at === null || to === null || !isForgotten(agent, name, to)) continue;
      warn(
        at,
        `a rule of '${agent.written.agent}' could permit tools of '${name}', and its egress does not allow ${to.host}:${to.port}`,
        `add ${to.host} to egress.allow, or leave the tools out of the rules`,
      );
    }
  }
}

function isForgotten({ written, egress }: AgentPolicy, upstream: string, to: Destination): boolean {
  return egress !== null && couldPermit(written, upstream) && !permitsName(egress.list, to);
}

/** By the first part of a rule's pattern, which is the name of the upstream. */
function couldPermit({ default: fallback, rules }: WrittenAgent, upstream: string): boolean {
  if (fallback !== null && fallback.effect !== 'deny') return true;
  return rules.some(({ effect, match }) => {
    const first = compileToolPattern(match.split('/', 1)[0] ?? '');
    return effect !== 'deny' && first.ok && matchesTool(first.pattern, upstream);
  });
}

function placeOf({ written: { agent, egress } }: AgentPolicy, agents: Config['agents']): Place | null {
  const [, line] = /:(\d+)$/.exec(egress?.ref ?? '') ?? [];
  const at = agents.find(({ name }) => name === agent)?.at;
  return at === undefined || line === undefined ? null : { file: at.file, line: Number(line), column: 1 };
}
