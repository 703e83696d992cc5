/**
 * Whatever stands in recourse.yaml, in a file it includes and in recourse.lock, check answers: with a configuration, or
 * with problems that have a place and a fix. It never throws, and never takes long.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { knownCatalogue, knownShapes } from '../../src/compose/project/known-catalogue.ts';
import { loadProject, mountWritten } from '../../src/compose/project/load-project.ts';
import { compileConfigPolicy } from '../../src/config/compile-config-policy.ts';
import type { Problem, Warning } from '../../src/config/problem.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { analysePolicy } from '../../src/core/policy/analyse/analyse-policy.ts';
import { analyseWorkflow } from '../../src/core/workflow/analyse/analyse-workflow.ts';
import { type ConfigTexts, configTexts, goodTexts } from '../support/config-noise.ts';

const seconds = Number(process.env['RECOURSE_PROPERTY_SECONDS'] ?? 20);
const seed = Number(process.env['RECOURSE_PROPERTY_SEED'] ?? Date.now() % 1_000_000);
/** A soak counts instead of looking at the clock. */
const runs = Number(process.env['RECOURSE_FUZZ_RUNS'] ?? 0);
const maxMsForOne = 10_000;

const env = { TOKEN: 'secret' };
const names = { main: 'recourse.yaml', included: 'more.yaml', lock: 'recourse.lock' } as const;
const count = { texts: 0, configurations: 0, policies: 0, problems: 0, warnings: 0, slowestMs: 0 };

function checkPlaces(told: readonly Warning[], texts: ConfigTexts): void {
  for (const { file, line, column, message, fix, text } of told) {
    const which = (Object.keys(names) as (keyof typeof names)[]).find((key) => names[key] === file);
    assert.ok(which !== undefined, `${file} is no file of ours`);
    const lines = (texts[which] ?? '').split(/\r?\n/);
    assert.ok(line >= 1 && line <= lines.length + 1 && column >= 1, `${file}:${line}:${column} ${message}`);
    assert.ok((lines[line - 1] ?? '').startsWith(text), 'the line is shown as it is written');
    assert.ok(message !== '' && fix !== '' && !/\bat .*:\d+:\d+\)?$/m.test(message), message);
  }
}

/** Everything that the command does with texts, but for reading them. */
function check(texts: ConfigTexts): readonly Problem[] {
  const included = new Map([['./more.yaml', { ok: true, file: names.included, text: texts.included } as const]]);
  const lock = texts.lock === null ? null : { file: names.lock, text: texts.lock };
  const read = readConfig(texts.main, names.main, { env, included, lock });
  const workflows = read.config.workflows.flatMap((each) =>
    each.kind === 'written' ? (mountWritten(each, read.tell) ?? []) : [],
  );
  const policy = compileConfigPolicy(read, knownShapes({ config: read.config, workflows }));
  const problems = read.allProblems();
  checkPlaces([...problems, ...read.allWarnings()], texts);
  for (const { graph } of workflows) analyseWorkflow(graph);
  count.problems += problems.length;
  count.warnings += read.allWarnings().length;
  if (problems.length > 0) return problems;
  count.configurations += 1;
  assert.equal(policy === null, read.config.policy === null, 'without problems a policy that is written is there');
  if (policy === null) return problems;
  count.policies += 1;
  analysePolicy(policy, knownCatalogue({ config: read.config, workflows }));
  for (const agent of policy.agents.values())
    for (const { ref } of agent.written.rules) assert.match(ref, /^(?:recourse|more)\.yaml:\d+$/);
  return problems;
}

function timed(texts: ConfigTexts): void {
  const before = process.cpuUsage();
  check(texts);
  const { user, system } = process.cpuUsage(before);
  const took = (user + system) / 1_000;
  count.texts += 1;
  count.slowestMs = Math.max(count.slowestMs, Math.round(took));
  assert.ok(took < maxMsForOne, `one took ${took} ms of CPU time`);
}

test('[C9-validation-1] the texts that are spoilt here are good before', () => {
  assert.deepEqual(check(goodTexts), []);
});

test(`[C9-validation-1] any text of configuration is answered, from seed ${seed}`, { timeout: 86_400_000 }, (t) => {
  const boxed = { numRuns: 10_000_000, interruptAfterTimeLimit: seconds * 800, markInterruptAsFailure: false };
  fc.assert(fc.property(configTexts, timed), { seed, ...(runs > 0 ? { numRuns: runs } : boxed) });
  t.diagnostic(JSON.stringify(count));
  for (const [what, many] of Object.entries(count)) assert.ok(many > 0, `no ${what}`);
  if (runs > 0) assert.ok(count.texts >= runs);
});

test(`[C9-validation-1] any files in a folder are answered, from seed ${seed}`, { timeout: 86_400_000 }, async (t) => {
  const cwd = mkdtempSync(path.join(tmpdir(), 'recourse-fuzz-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  let folders = 0;
  const property = fc.asyncProperty(configTexts, fc.boolean(), async (texts, asBytes) => {
    for (const key of ['main', 'included', 'lock'] as const) {
      const text = texts[key];
      rmSync(path.join(cwd, names[key]), { force: true });
      if (text !== null) writeFileSync(path.join(cwd, names[key]), asBytes ? Buffer.from(text, 'latin1') : text);
    }
    mkdirSync(path.join(cwd, 'node_modules'), { recursive: true });
    const loaded = await loadProject({ cwd, env });
    folders += 1;
    if (!loaded.ok)
      assert.ok(loaded.problems.length > 0 && loaded.problems.every(({ line, fix }) => line > 0 && fix !== ''));
  });
  const boxed = { numRuns: 10_000_000, interruptAfterTimeLimit: seconds * 200, markInterruptAsFailure: false };
  await fc.assert(property, { seed, ...(runs > 0 ? { numRuns: Math.ceil(runs / 100) } : boxed) });
  t.diagnostic(`${folders} folders`);
  assert.ok(folders > 0);
});
