/**
 * Asks a real gateway what its OpenAPI document promises, with requests that Schemathesis makes up: no 500, no body
 * that the document does not describe, no status that it does not name. `npm run schemathesis [seconds]`. Not part of
 * `npm test`: it needs Python, and PyPI once. Exits with 1 for a finding, and with 2 if it cannot run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const bin = path.join(root, 'bin/recourse.js');
const version = '4.32.5';
const startWithinMs = 60_000;
const stopWithinMs = 10_000;
/** For each route, and for each of the two runs: requests are made up until the time is over. */
const maxExamples = '100';
const defaultSeconds = '60';

/** Statuses that stand in the document and tell of tools that failed, not of the gateway. */
const settings = `request-timeout = 20
[parameters]
follow = "false"
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "504"]
negative_data_rejection.expected-statuses = ["4xx", "503"]
`;

/**
 * Not asked: whether every request that fits its schema succeeds. One that names a tool, a call or a session that is
 * not there is refused, as it should be.
 */
const unasked = 'positive_data_acceptance';

const server = JSON.stringify([path.join(root, 'test/support/upstream-child.ts'), 'good']);
const configuration = `runtime:
  limits: { max_approval_wait_ms: 100, max_connections_per_agent: 50 }
agents:
  bot:
    default: permit
    rules:
      - deny: small/vendor
        reason: nobody buys here
      - defer: small/fails
        reason: a person looks at it first
      - deny: small/{die,hang,exit_after_answer,close_input}
tools:
  small:
    mcp: { command: ${JSON.stringify(process.execPath)}, args: ${server} }
    timeout: 2s
workflows:
  account:
    context: { left: 100 }
    initial: open
    actions:
      withdraw:
        input: { type: object, properties: { amount: { type: number } }, required: [amount] }
        update: { left: context.left - inputs.amount }
      close: {}
    states:
      open:
        on:
          withdraw: { target: open, guard: inputs.amount <= context.left }
          close: closed
      closed: { type: final }
`;

const give = (code: number, sentence: string): never => {
  process.stderr.write(`schemathesis: ${sentence}\n`);
  process.exit(code);
};

const runs = (program: string, words: readonly string[]) => spawnSync(program, words, { stdio: 'ignore' }).status === 0;

/** The one that is installed, or one of our own beside what other tools keep. */
function findProgram(): string {
  if (runs('schemathesis', ['--version'])) return 'schemathesis';
  const home = path.join(root, 'node_modules/.cache/recourse/schemathesis');
  const program = path.join(home, 'bin/schemathesis');
  if (existsSync(program)) return program;
  if (!runs('python3', ['--version'])) return give(2, 'needs Python: install Python 3.10 or later, and run it again');
  mkdirSync(path.dirname(home), { recursive: true });
  const installed =
    runs('python3', ['-m', 'venv', home]) &&
    runs(path.join(home, 'bin/pip'), ['install', '-q', `schemathesis==${version}`]);
  if (installed) return program;
  rmSync(home, { recursive: true, force: true });
  return give(2, `cannot be installed: try pip install schemathesis==${version}, and run it again`);
}

interface Gateway {
  readonly url: string;
  readonly child: ChildProcess;
}

async function start(home: string, store: string): Promise<Gateway> {
  const child = spawn(process.execPath, [bin, 'up', '--listen', '127.0.0.1:0', '--file', store], { cwd: home });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  for (const until = Date.now() + startWithinMs; Date.now() < until && child.exitCode === null;) {
    const [, url] = /recourse is starting at (http:\S+)/.exec(said) ?? [];
    // Ignored: the gateway does not listen yet; it is asked again.
    const ready = url === undefined ? null : await fetch(`${url}/readyz`).catch(() => null);
    if (url !== undefined && ready?.ok === true) return { url, child };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGKILL');
  return give(2, `the gateway did not start:\n${said}`);
}

async function stop({ child }: Gateway): Promise<void> {
  if (child.exitCode !== null) return;
  const late = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  const gone = once(child, 'exit');
  child.kill('SIGINT');
  await gone;
  clearTimeout(late);
}

/** So that lists, calls, approvals and sessions have something to show. */
async function fill(url: string, key: string): Promise<void> {
  const post = async (target: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${target}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  for (const tool of ['small/echo', 'small/vendor', 'small/fails', 'small/rpc_error', 'small/none'])
    await post('/v1/calls', { tool, args: {} });
  const { session } = await post('/v1/sessions', { workflow: 'account' });
  for (const inputs of [{ amount: 5 }, { amount: 500 }, {}])
    await post(`/v1/sessions/${String(session)}/steps`, { action: 'withdraw', inputs });
}

async function main(seconds: string): Promise<number> {
  const program = findProgram();
  const home = mkdtempSync(path.join(tmpdir(), 'recourse-schemathesis-'));
  const store = path.join(home, 'recourse.db');
  writeFileSync(path.join(home, 'recourse.yaml'), configuration);
  writeFileSync(path.join(home, 'schemathesis.toml'), settings);
  const gateway = await start(home, store);
  const keyOf = (name: string, role: string) =>
    spawnSync(process.execPath, [bin, 'agents', 'add', name, '--role', role, '--file', store], {
      cwd: home,
      encoding: 'utf8',
    }).stdout.trim();
  try {
    const keys = { agent: keyOf('bot', 'agent'), admin: keyOf('ada', 'admin') };
    await fill(gateway.url, keys.agent);
    const failed: string[] = [];
    for (const [role, key] of Object.entries(keys)) {
      process.stdout.write(`\nschemathesis: with the key of an ${role}\n`);
      const words = ['run', `${gateway.url}/v1/openapi.json`, '-H', `Authorization: Bearer ${key}`];
      const bounds = ['--max-examples', maxExamples, '--max-time', seconds, '--generation-database', 'none'];
      const checks = ['--exclude-checks', unasked, '--continue-on-failure', '--warnings', 'off', '--workers', '1'];
      const child = spawn(program, [...words, ...bounds, ...checks], { cwd: home, stdio: 'inherit' });
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) failed.push(role);
    }
    if (failed.length === 0) return 0;
    process.stderr.write(`schemathesis: findings with the key of: ${failed.join(', ')}\n`);
    return 1;
  } finally {
    await stop(gateway);
    rmSync(home, { recursive: true, force: true });
  }
}

process.exit(await main(process.argv[2] ?? defaultSeconds));
