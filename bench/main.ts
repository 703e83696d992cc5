/** `npm run bench`: one table, ratios first. Exits 1 if a bar is missed. Names on the command line pick parts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { benchApproval } from './approval.ts';
import { benchConsole } from './console/console.ts';
import { benchDecide } from './decide.ts';
import { benchDurable } from './durable.ts';
import { benchHelp } from './help.ts';
import { benchHttp } from './http.ts';
import { benchLimits } from './limits.ts';
import { holds, type Row, table } from './measure.ts';
import { benchMcpSteps } from './mcp/steps.ts';
import { benchMcpTools } from './mcp/tools.ts';
import { benchMillion } from './million.ts';
import { benchModels } from './models/models.ts';
import { benchPolicy } from './policy.ts';
import { benchRecovery } from './recovery.ts';

const parts = {
  decide: () => benchDecide(),
  policy: () => benchPolicy(),
  approval: benchApproval,
  durable: benchDurable,
  million: benchMillion,
  help: benchHelp,
  http: benchHttp,
  recovery: benchRecovery,
  limits: benchLimits,
  steps: benchMcpSteps,
  tools: benchMcpTools,
  models: benchModels,
  console: benchConsole,
} as const;
type Part = keyof typeof parts;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in parts));
if (unknown.length > 0) {
  process.stderr.write(`no such part: ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}\n`);
  process.exit(2);
}

const rows: Row[] = [];
for (const name of (wanted.length > 0 ? wanted : Object.keys(parts)) as Part[]) {
  process.stderr.write(`measuring ${name} …\n`);
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-bench-'));
  try {
    rows.push(...(await parts[name](folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.stdout.write(
  `\nNode ${process.version}, ${cpus().length} cores; medians of interleaved rounds\n\n${table(rows)}\n`,
);
process.exitCode = rows.every(holds) ? 0 : 1;
