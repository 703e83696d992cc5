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
}

/** VS Code calls its servers `servers`; the others call them `mcpServers`. */
const isVsCode = (file: string): boolean => /(?:\.vscode|Code[\\/]User)[\\/]mcp\.json$/.test(file);

/** None if no client was found. */
export function clientSnippets({ files, config, agent, variables }: SnippetOrder): readonly ClientSnippet[] {
  const args = ['-y', 'recourse-gateway', 'stdio', '--config', config, '--agent', agent];
  const env = variables.length === 0 ? {} : { env: Object.fromEntries(variables.map((name) => [name, '<its value>'])) };
  const recourse = { command: 'npx', args, ...env };
  const known = [...new Set(files)];
  const vsCode = known.filter(isVsCode);
  const others = known.filter((file) => !isVsCode(file));
  const write = (value: object) => JSON.stringify(value, null, 2);
  return [
    { files: others, text: write({ mcpServers: { recourse } }) },
    { files: vsCode, text: write({ servers: { recourse: { type: 'stdio', ...recourse } } }) },
  ].filter((snippet) => snippet.files.length > 0);
}
