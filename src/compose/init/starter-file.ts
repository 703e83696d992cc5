/**
 * Writes the text of the first recourse.yaml: deny by default, permit reads by name, defer writes to a person. Pure.
 */
import type { FoundServer, SkippedServer } from './client-servers.ts';
import type { DeclaredTool, DeclaredTools } from './declare-tools.ts';

export const firstAgent = 'my-agent';

export interface StarterServer extends FoundServer, DeclaredTools {
  /** Why its tools are not known; null if they are. */
  readonly problem: string | null;
  /** Tools that are not offered, with the reason. */
  readonly leftOut: readonly string[];
}

export interface Starter {
  readonly servers: readonly StarterServer[];
  readonly skipped: readonly SkippedServer[];
}

export function starterFile({ servers, skipped }: Starter): string {
  return `# What agents may do, and with which tools. Written by recourse init; yours to change.
#   recourse check             is it right?
#   recourse explain <tool>    what would a call meet, and by which line?
#   recourse apply             put changed rules into force while recourse up runs

runtime:
  # enforce, or audit: what policy would refuse is let pass and recorded.
  mode: enforce
  # The store and its keys lie in a state folder of yours, out of reach of tools that are pointed at this one.
  listen: 127.0.0.1:7411

agents:
  # Who is not here may do nothing. Its key: recourse agents add ${firstAgent}
  ${firstAgent}:
    # What no rule decides. A tool that a server adds later is no exception.
    default: deny
    # The first rule that matches decides. Tools are called server/tool: * is anything within a part, ** any depth.
${writeRules(servers)}      # - permit: "files/write_*"
      #   when: args.path.startsWith("/tmp/")
      # - deny: "*/delete_*"
      #   reason: nothing is deleted here

${servers.length === 0 ? noServers : `tools:\n${servers.map(writeServer).join('\n')}`}${skipped.map(writeSkipped).join('')}`;
}

function writeRules(servers: readonly StarterServer[]): string {
  const decided = (decision: DeclaredTool['decision']) =>
    servers.flatMap(({ name, tools }) =>
      tools
        .filter((tool) => tool.decision === decision)
        .map((tool) => `          - ${quoted(`${name}/${tool.name}`)}\n`),
    );
  const rule = (says: string, decision: DeclaredTool['decision']) => {
    const names = decided(decision);
    return names.length === 0 ? '' : `      # ${says}\n      - ${decision}:\n${names.join('')}`;
  };
  const rules = [
    rule('What only reads: its effect, below, is pure.', 'permit'),
    rule('What writes waits until a person approves it: recourse approvals ls', 'defer'),
  ].join('');
  return rules === '' ? '    rules: []\n' : `    rules:\n${rules}`;
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

function writeServer({ name, from, connect, ...declared }: StarterServer): string {
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
    ...writeTools(declared),
    '',
  ].join('\n');
}

function writeTools({ tools, unnamed, problem }: Omit<StarterServer, keyof FoundServer>): readonly string[] {
  if (problem !== null)
    return [
      `    # Its tools could not be listed: ${comment(problem)}.`,
      '    # No rule permits them. recourse pin lists them once it starts; then declare what only reads, and permit it above.',
      '    # tools:',
      '    #   "get_thing": { effect: pure }',
    ];
  return [
    '    # What a call does: pure only reads, plain writes and must not happen twice. What is not declared is plain.',
    '    # What its server says about that later changes nothing; recourse pin --check tells that it does.',
    ...(tools.length === 0 ? [] : ['    tools:']),
    ...tools.map(({ name, effect, onError }) => {
      const meaning = onError === null ? '' : `, on_error: ${onError}`;
      return `      ${quoted(name)}: { effect: ${effect}${meaning} }`;
    }),
    ...unnamed.map((name) => `    # Not declared, because its name means something else in a rule: ${comment(name)}`),
  ];
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

const writeSkipped = ({ name, from, reason }: SkippedServer): string =>
  `\n# Not taken over: ${comment(name)}, from ${comment(from)}: ${comment(reason)}.\n`;

/** JSON is YAML. Characters that YAML treats as line breaks are escaped. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Always one line. */
const comment = (text: string): string => quoted(text.slice(0, 200)).slice(1, -1);
