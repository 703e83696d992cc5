/**
 * Writes the JSON that makes an MCP client start recourse in place of the servers that were taken over, in the
 * client's format. Values of variables are left open because they were not copied.
 */
export interface ClientSnippet {
  /** For display. */
  readonly files: readonly string[];
  readonly text: string;
}

export interface SnippetOrder {
  /** The files that servers were taken from. */
  readonly files: readonly string[];
  /** The absolute path of the configuration: clients start commands in any folder. */
  readonly config: string;
  readonly agent: string;
  readonly variables: readonly string[];
  /** How this command is started: a program and its first arguments. */
  readonly start: readonly [string, ...string[]];
  /** Variables that decide where the store is; a client must pass them on. */
  readonly places: Readonly<Record<string, string>>;
}

const placeVariables = ['RECOURSE_FILE', 'RECOURSE_STATE_DIR', 'XDG_STATE_HOME'];

export function placesIn(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const set = placeVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return Object.fromEntries(set) as Record<string, string>;
}

/**
 * `npx` runs from a cache folder that may be emptied, so the snippet uses npx again. Other copies are named by path.
 */
export const startedBy = (node: string, script: string): readonly [string, ...string[]] =>
  /[\\/]_npx[\\/]/.test(script) ? ['npx', '-y', 'recourse-gateway'] : [node, script];

/** VS Code calls its servers `servers`; the others call them `mcpServers`. */
const isVsCode = (file: string): boolean => /(?:\.vscode|Code[\\/]User)[\\/]mcp\.json$/.test(file);

/** None if no client was found. */
export function clientSnippets(order: SnippetOrder): readonly ClientSnippet[] {
  const { files, config, agent, variables, places } = order;
  const [command, ...first] = order.start;
  const args = [...first, 'stdio', '--config', config, '--agent', agent];
  const env = { ...places, ...Object.fromEntries(variables.map((name) => [name, '<its value>'])) };
  const recourse = { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
  const known = [...new Set(files)];
  const vsCode = known.filter(isVsCode);
  const others = known.filter((file) => !isVsCode(file));
  const write = (value: object) => JSON.stringify(value, null, 2);
  return [
    { files: others, text: write({ mcpServers: { recourse } }) },
    { files: vsCode, text: write({ servers: { recourse: { type: 'stdio', ...recourse } } }) },
  ].filter((snippet) => snippet.files.length > 0);
}
