/** At which paths is MCP served, and what at each of them? Data only. */
import type { Mounted, Served } from './serve-door.ts';

/** Every tool. */
export const toolsPath = '/mcp';

interface Named {
  readonly name: string;
}

export interface Endpoint extends Pick<Served, 'workflow' | 'server'> {
  readonly at: string;
}

/** Every tool, each workflow, each server: no two of them have one name, or the configuration would be refused. */
export function endpoints(workflows: readonly Mounted[], servers: readonly Named[]): readonly Endpoint[] {
  const at = (name: string) => `${toolsPath}/${encodeURIComponent(name)}`;
  return [
    { at: toolsPath, workflow: null, server: null },
    ...workflows.map((workflow) => ({ at: at(workflow.name), workflow, server: null })),
    ...servers.map(({ name }) => ({ at: at(name), workflow: null, server: name })),
  ];
}
