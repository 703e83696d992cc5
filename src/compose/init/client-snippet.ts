/**
 * What does a person put into the file of an MCP client so that it starts recourse in place of the servers that were taken over? In
 * the form of that client. Values of variables are left open: they were not copied.
 */
export interface ClientSnippet {
  /** As a person writes them. */
  readonly files: readonly string[];
  readonly text: string;
}

export interface SnippetOrder {
  /** The files that servers were taken from. */
  readonly files: readonly string[];
  /** The configuration, whole: clients start commands anywhere. */
  readonly config: string;
  readonly agent: string;
  readonly variables: readonly string[];
  /** How this command is started: a program and its first arguments. */
  readonly start: readonly [string, ...string[]];
  /** What decides where the store lies: a client must hand it on. */
  readonly places: Readonly<Record<string, string>>;
}

const placeVariables = ['RECOURSE_FILE', 'RECOURSE_STATE_DIR', 'XDG_STATE_HOME'];

export function placesIn(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const set = placeVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return Object.fromEntries(set) as Record<string, string>;
}

/** `npx` keeps what it starts in a folder that it may empty, so it is asked again; any other copy stays where it is. */
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
