/** What does the first recourse.yaml say? Deny by default, reads permitted, the servers that were found, and how to go on. Pure. */
import type { FoundServer, FoundServers } from './client-servers.ts';

export const firstAgent = 'my-agent';

export function starterFile({ servers, skipped }: Pick<FoundServers, 'servers' | 'skipped'>): string {
  return `# What agents may do, and with which tools. Written by recourse init; yours to change.
#   recourse check             is it right?
#   recourse explain <tool>    what would a call meet, and by which line?
#   recourse apply             put changed rules into force while recourse up runs

runtime:
  # enforce, or audit: what policy would refuse is let pass and recorded.
  mode: enforce
  store: recourse.db
  listen: 127.0.0.1:7411

agents:
  # Who is not here may do nothing. Its key: recourse agents add ${firstAgent}
  ${firstAgent}:
    # What no rule decides.
    default: deny
    # The first rule that matches decides. Tools are called server/tool: * is anything within a part, ** any depth.
    rules:
      # What only reads: because it is declared so below, or because its server says so.
      - permit: "**"
        when: tool.effect == "pure" || (has(tool.annotations.readOnlyHint) && tool.annotations.readOnlyHint == true)
      # - permit: "files/write_*"
      #   when: args.path.startsWith("/tmp/")
      # - deny: "*/delete_*"
      #   reason: nothing is deleted here

${servers.length === 0 ? noServers : `tools:\n${servers.map(writeServer).join('\n')}`}${skipped.map(writeSkipped).join('')}`;
}

const noServers = `# The servers behind the gateway, each under a name of its own.
# tools:
#   files:
#     mcp: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."] }
#     tools:
#       "read_*": { effect: pure }
#   tracker:
#     mcp: { url: "https://tracker.example.com/mcp", headers: { Authorization: "Bearer \${TRACKER_TOKEN}" } }
tools: {}
`;

function writeServer({ name, from, connect }: FoundServer): string {
  const rows =
    'url' in connect
      ? [['url', quoted(connect.url)], ...block('headers', connect.headers)]
      : [
          ['command', quoted(connect.command)],
          ...(connect.args.length === 0 ? [] : [['args', `[${connect.args.map(quoted).join(', ')}]`]]),
          ...block('env', connect.env),
          ...(connect.cwd === null ? [] : [['cwd', quoted(connect.cwd)]]),
        ];
  return [
    `  # From ${comment(from)}.`,
    `  ${quoted(name)}:`,
    '    mcp:',
    ...rows.map(([key, value]) => `      ${key}: ${value}`),
    '    # A tool that is not declared counts as a write that must not happen twice.',
    '    # tools:',
    '    #   "get_*": { effect: pure }',
    '',
  ].join('\n');
}

const block = (name: string, entries: Readonly<Record<string, string>>): string[][] =>
  Object.keys(entries).length === 0
    ? []
    : [
        [
          name,
          `{ ${Object.entries(entries)
            .map(([key, value]) => `${quoted(key)}: ${quoted(value)}`)
            .join(', ')} }`,
        ],
      ];

const writeSkipped = ({ name, from, reason }: FoundServers['skipped'][number]): string =>
  `\n# Not taken over: ${comment(name)}, from ${comment(from)}: ${comment(reason)}.\n`;

/** JSON is YAML. What YAML would take for the end of a line is spelt out. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** One line, whatever the name is. */
const comment = (text: string): string => quoted(text.slice(0, 200)).slice(1, -1);
