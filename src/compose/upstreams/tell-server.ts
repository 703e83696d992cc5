/** How is a server, for an operator? In a word, and with what is wrong: tools that are not offered are part of that. */
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';

export interface ToldServer {
  readonly name: string;
  readonly state: UpstreamStatus['state'];
  readonly tools: number;
  readonly problem: string | null;
}

export function tellServer({ name, state, tools, problem, leftOut }: UpstreamStatus): ToldServer {
  const { length } = leftOut;
  const out =
    length === 0 ? [] : [`${length === 1 ? 'one tool is' : `${length} tools are`} left out: recourse pin says why`];
  const problems = [...(problem === null ? [] : [problem]), ...out];
  return { name, state, tools, problem: problems.length === 0 ? null : problems.join('; ') };
}
