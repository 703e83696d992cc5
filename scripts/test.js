// Runs the stages of `check`, `test` or `soak` one after the other, prints the time of each, and ends with one summary.
// A failing stage does not stop the next: one run tells everything. A stage that finds nothing to run has failed. One
// whose program is not on this machine is NOT RUN, and the last line says so.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { needChromium } from './chromium.ts';

const simulationSeconds = 30;
/** Two files at once at least: they also wait. */
const cores = Math.max(2, availableParallelism());
/** Of what failed, the summary repeats at most so many characters for each command. */
const maxToldFailures = 20_000;
const maxLastWords = 2_000;

/** Hundreds of processes load the same sources: what one of them compiled, the others find. */
const compiled = mkdtempSync(join(tmpdir(), 'recourse-compiled-'));
process.env.NODE_COMPILE_CACHE = compiled;
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }));

/** A stage is a list of command lines, or the pattern that found nothing to run. */
const command = (name, ...lines) => ({
  name,
  atOnce: 2,
  find: () => ({ lines: lines.map((line) => line.split(' ')) }),
});

/** The compiler looks again only at what changed since the last time; a fresh clone has no last time. */
const sinceLastTime = '--incremental --tsBuildInfoFile node_modules/.cache/recourse/types.tsbuildinfo';

/**
 * `atOnce`: files that mostly wait for processes and disks overlap; two cores are busy with fewer that compute.
 * `together`: files whose names begin so share a process, one for each list, beside the others: loading what they test
 * takes longer than most tests.
 */
const tests = (name, globs, env = {}, { timeoutSeconds = 900, atOnce = cores, together = [], except = [] } = {}) => ({
  name,
  env,
  timeoutSeconds,
  find: () => {
    const found = globs.map((glob) => globSync(glob, { exclude: except }).sort());
    const groupOf = (file) => together.findIndex((names) => names.some((name) => file.startsWith(name)));
    const groups = Map.groupBy(found.flat(), groupOf);
    const options = ['--test', '--test-reporter=spec', `--test-timeout=${timeoutSeconds * 1000}`];
    const lines = [
      [[`--test-concurrency=${atOnce}`], groups.get(-1) ?? []],
      ...together.map((_, at) => [['--test-isolation=none'], groups.get(at) ?? []]),
    ]
      .filter(([, files]) => files.length > 0)
      .map(([how, files]) => [process.execPath, ...options, ...how, ...files]);
    return lines.length === 0
      ? { lines, missing: globs.join(', ') }
      : { lines, missing: globs.find((_, at) => found[at].length === 0) };
  },
});

const examples = {
  name: 'examples',
  atOnce: 2,
  find: () => {
    const folders = globSync('examples/*/').sort();
    const lines = folders.map((folder) => [process.execPath, join(folder, 'main.ts')]);
    return { lines, missing: lines.length === 0 ? 'examples/*/main.ts' : undefined };
  },
};

/**
 * The console in a real browser. CI installs one where none is; elsewhere only `npm run test:browser` does, which fails
 * without one.
 */
const browser = ({ isNeeded }) => ({
  ...tests('browser', ['test/browser/**/*.test.ts'], {}, { atOnce: 2 }),
  isNeeded,
  prepare() {
    const { path, missing } = needChromium({ installs: isNeeded || /^(?:true|1)$/.test(process.env.CI ?? '') });
    if (path !== undefined) process.env.CHROMIUM_PATH = path;
    return missing;
  },
});

/** What lives in these folders keeps little and waits for little, and so do its tests. */
const together = [
  ['src/core/', 'src/config/', 'src/client/'],
  ['src/shell/', 'src/doors/', 'src/compose/'],
];
/** Each of these starts one process after the other: the loop of a minute leaves them to `test`. */
const inProcesses = ['src/**/*-processes.test.ts', 'test/pins/cli*.test.ts'];

const check = (env, except) => [
  command('types', 'tsc -p src/core', 'tsc -p src/client', 'tsc -p console', `tsc -p . --noEmit ${sinceLastTime}`),
  command('format', 'oxfmt --check'),
  command('lint', 'oxlint --deny-warnings'),
  tests('unit', ['src/**/*.test.ts', 'test/pins/**/*.test.ts', 'test/tidy.test.ts'], env, { together, except }),
];

const plans = {
  check: check({ RECOURSE_QUICK: '1' }, inProcesses),
  test: [
    ...check({}, []),
    tests(
      'conformance',
      ['test/conformance/**/*.test.ts', 'examples/**/*.test.ts'],
      { RECOURSE_PROPERTY_SECONDS: '5', RECOURSE_PROPERTY_SEED: '1' },
      { together: [['workflow', 'approv', 'policy'].map((name) => `test/conformance/${name}`)] },
    ),
    tests('simulation', ['test/simulation/**/*.test.ts'], {
      RECOURSE_SIMULATION_SECONDS: String(simulationSeconds),
      // The same seeds for everybody, so that a change is judged by what it changed; a soak draws others every day.
      RECOURSE_FIRST_SEED: '1',
    }),
    tests('chaos', ['test/chaos/**/*.test.ts']),
    tests(
      'e2e',
      ['test/e2e/**/*.test.ts'],
      {},
      { together: [['mcp', 'http', 'client'].map((name) => `test/e2e/${name}/`)] },
    ),
    examples,
    browser({ isNeeded: false }),
  ],
  examples: [examples],
  browser: [browser({ isNeeded: true })],
  soak: [
    tests(
      'properties',
      ['test/conformance/workflow-properties.test.ts', 'src/core/workflow/**/*.test.ts'],
      { RECOURSE_PROPERTY_SECONDS: '300', RANDOM_RUNS: '3000' },
      { timeoutSeconds: 24 * 3600 },
    ),
    tests(
      'fuzz',
      ['test/conformance/*-fuzz.test.ts', 'test/e2e/mcp/fuzz.test.ts'],
      { RECOURSE_FUZZ_RUNS: '1000000', RECOURSE_FUZZ_REQUESTS: '1000000' },
      { timeoutSeconds: 24 * 3600 },
    ),
    tests('simulation', ['test/simulation/**/*.test.ts'], { RECOURSE_SOAK: '1' }, { timeoutSeconds: 24 * 3600 }),
    tests('chaos', ['test/chaos/**/*.test.ts'], { RECOURSE_SOAK: '1' }, { timeoutSeconds: 24 * 3600 }),
  ],
};

const colours = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};

/** Runs one command, passing its output through, and resolves to its exit code and what it printed. */
function run([file, ...args], { env, timeoutSeconds = 0 }, show) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      env: { ...process.env, ...colours, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      // Files that share a process have nobody else who would end one that never comes back.
      ...(args.includes('--test-isolation=none') ? { timeout: timeoutSeconds * 2000, killSignal: 'SIGKILL' } : {}),
    });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      show(chunk);
    });
    child.on('error', (error) => resolve({ code: 1, printed: error.message, failure: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? 1, printed, failure: signal ?? `exit ${code}` }));
  });
}

/**
 * All lines of a test stage at once; of the others as many as the stage says. What runs beside another is shown when it
 * has ended.
 */
async function runLines(lines, stage) {
  const show = (text) => process.stdout.write(text);
  const ends = [];
  if (!lines[0]?.includes('--test')) {
    const { atOnce = 1 } = stage;
    while (ends.length < lines.length) {
      const some = lines.slice(ends.length, ends.length + atOnce);
      const ended = await Promise.all(some.map((line) => run(line, stage, atOnce === 1 ? show : () => undefined)));
      if (atOnce > 1) for (const { printed } of ended) show(printed);
      ends.push(...ended);
    }
    return ends;
  }
  const [first, ...others] = lines.map((line, at) => run(line, stage, at === 0 ? show : () => undefined));
  ends.push(await first);
  for (const other of others) {
    ends.push(await other);
    show(ends.at(-1).printed);
  }
  return ends;
}

const countIn = (printed, what) => Number(new RegExp(`^\\S*ℹ ${what} (\\d+)`, 'm').exec(printed)?.[1] ?? 0);

/** What a failed command said of its failures, or else its last words: a reader of a long log finds them at its end. */
function failuresIn(printed) {
  const told = printed.lastIndexOf('✖ failing tests:');
  const words = told === -1 ? printed.slice(-maxLastWords) : printed.slice(told, told + maxToldFailures);
  return `${words.trimEnd()}\n`;
}

async function runStage(stage) {
  const started = performance.now();
  process.stdout.write(`\n── ${stage.name}\n`);
  const absent = stage.prepare?.();
  if (absent !== undefined) {
    process.stdout.write(`── ${stage.name}: NOT RUN, ${absent}\n`);
    const [problem, notRun] = stage.isNeeded ? [absent, ''] : ['', `NOT RUN: ${absent}`];
    return { name: stage.name, problem, notRun, failures: '', counts: {}, seconds: 0 };
  }
  const { lines, missing } = stage.find();
  const problem = missing === undefined ? '' : `found nothing to run in ${missing}`;
  const result = { name: stage.name, problem, failures: '', counts: {}, seconds: 0 };
  for (const [at, { code, printed, failure }] of (await runLines(lines, stage)).entries()) {
    if (code !== 0) {
      result.problem ||= failure;
      result.failures += failuresIn(printed);
    }
    if (!lines[at].includes('--test')) continue;
    for (const what of ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo']) {
      result.counts[what] = (result.counts[what] ?? 0) + countIn(printed, what);
    }
    if (countIn(printed, 'tests') === 0) result.problem ||= 'ran no test';
  }
  result.seconds = (performance.now() - started) / 1000;
  process.stdout.write(`── ${stage.name}: ${result.problem || 'ok'}, ${result.seconds.toFixed(1)} s\n`);
  return result;
}

function summarise(plan, results) {
  const total = (what) => results.reduce((sum, { counts }) => sum + (counts[what] ?? 0), 0);
  const rows = results.map(({ name, problem, notRun = '', counts, seconds }) => {
    const tests = counts.tests === undefined ? '' : `${counts.pass}/${counts.tests} tests`;
    const mark = problem ? '✖' : notRun ? '!' : '✔';
    const told = [tests, problem, notRun].filter(Boolean).join('  ');
    return `${mark} ${name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${told}`;
  });
  const failed = results.filter(({ problem }) => problem).length;
  for (const { name, failures } of results)
    if (failures !== '') process.stdout.write(`\n── what failed in ${name}\n${failures}`);
  const time = results.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(1);
  const absent = results.filter(({ notRun }) => notRun).map(({ name }) => name);
  const passed =
    absent.length === 0 ? `all ${results.length}` : `${results.length - absent.length} of ${results.length}`;
  const ended = failed === 0 ? `${passed} stages passed` : `${failed} of ${results.length} stages failed`;
  const verdict = `${ended}${absent.length === 0 ? '' : `, NOT RUN: ${absent.join(', ')};`}`;
  const counts = ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo'].map((what) => `ℹ ${what} ${total(what)}`);
  process.stdout.write(`\n── summary\n${rows.join('\n')}\n${counts.join('\n')}\n${plan}: ${verdict} in ${time} s\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

const plan = process.argv[2] ?? 'test';
if (plans[plan] === undefined) {
  process.stderr.write(`no plan is called '${plan}': say one of ${Object.keys(plans).join(', ')}\n`);
  process.exit(2);
}
const wanted = process.argv.slice(3);
const unknown = wanted.find((name) => !plans[plan].some((stage) => stage.name === name));
if (unknown !== undefined) {
  process.stderr.write(
    `'${plan}' has no stage '${unknown}': say one of ${plans[plan].map(({ name }) => name).join(', ')}\n`,
  );
  process.exit(2);
}
const results = [];
for (const stage of plans[plan].filter(({ name }) => wanted.length === 0 || wanted.includes(name)))
  results.push(await runStage(stage));
summarise(plan, results);
