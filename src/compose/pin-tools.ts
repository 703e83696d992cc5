/**
 * What are the tools of the servers like now, and is that what recourse.lock says? Starts the servers, lists, ends them; the lock is
 * written whole or not at all. Policy is not looked at: a rule that no longer fits the old lock must not keep it from being renewed.
 */
import crypto from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { configName } from '../config/config.ts';
import { type Lock, type LockedTool, lockName, readLock, writeLock } from '../config/lock.ts';
import { readConfig } from '../config/read-config.ts';
import { canonicalText } from '../core/canonical.ts';
import type { ToolEntry } from '../core/catalogue.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { defaultLimits } from '../core/limits.ts';
import type { Pinned, PinOrder } from '../doors/cli/pin.ts';
import { joinUpstreams } from './join-upstreams.ts';
import { inFolder } from './load-project.ts';
import { readFilesBeside, readText } from './read-project-files.ts';
import { refusalOf, serversOf } from './serve-options.ts';

/** A server that must first be fetched from a registry takes its time. */
const serversReadyMs = 60_000;

export async function pinTools({ config, isCheck }: PinOrder): Promise<Pinned> {
  const cwd = process.cwd();
  const file = path.resolve(config ?? configName);
  const shown = path.relative(cwd, file) || file;
  const text = await readText(file);
  if (!text.ok)
    return {
      kind: 'problems',
      problems: [
        { code: 'ShapeInvalid', file: shown, line: 1, column: 1, text: '', message: text.message, fix: text.fix },
      ],
    };
  const beside = await readFilesBeside(file, text.text, cwd);
  const read = readConfig(text.text, shown, { env: process.env, included: beside.included });
  if (read.problems.length > 0) return { kind: 'problems', problems: read.problems };
  const lockFile = path.join(path.dirname(file), lockName);
  const before = beside.lock === null ? null : readLock(beside.lock.text, lockName);
  const listed = await listServers(serversOf(inFolder(read.config, cwd, file)));
  if (!('lock' in listed)) return listed;
  const { lock, leftOut } = listed;
  const next = writeLock(lock);
  const isSame = next === beside.lock?.text;
  if (!isCheck && !isSame) {
    const problem = await writeWhole(lockFile, next);
    if (problem !== null) return { kind: 'refused', message: problem };
  }
  const wasUnreadable = beside.lockProblem !== null || (before !== null && before.lock === null);
  return {
    kind: 'pinned',
    file: path.relative(cwd, lockFile) || lockFile,
    isSame,
    wasUnreadable,
    before: before?.lock ?? null,
    lock,
    leftOut,
  };
}

type Listed =
  | { readonly lock: Lock; readonly leftOut: readonly string[] }
  | Extract<Pinned, { kind: 'unreachable' | 'refused' }>;

async function listServers(configs: ReturnType<typeof serversOf>): Promise<Listed> {
  let joined: Awaited<ReturnType<typeof joinUpstreams>>;
  try {
    joined = await joinUpstreams({ servers: configs }, defaultLimits);
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === null) throw error;
    return { kind: 'refused', message: refused.message };
  }
  try {
    await joined.servers?.ready(serversReadyMs);
    const states = joined.servers?.status() ?? [];
    const away = states.filter(({ state }) => state !== 'connected');
    if (away.length > 0)
      return {
        kind: 'unreachable',
        servers: away.map(({ name, state, problem }) => ({ name, problem: problem ?? state })),
      };
    const servers = new Map(configs.map(({ name }) => [name, new Map<string, LockedTool>()]));
    for (const entry of joined.catalogue().values()) {
      const [server = '', ...rest] = entry.name.split('/');
      servers.get(server)?.set(rest.join('/'), lockedTool(entry));
    }
    const leftOut = states.flatMap(({ name, problem, leftOut: tools }) => [
      ...tools.map(({ tool, reason }) => `${name}/${tool}: ${reason}`),
      ...(problem === null ? [] : [`${name}: ${problem}`]),
    ]);
    return { lock: { version: 1, servers }, leftOut };
  } finally {
    await joined.close();
  }
}

function lockedTool({ inputSchema, listing, manifest }: ToolEntry): LockedTool {
  const { description, outputSchema, annotations } = listing ?? {};
  const { tool } = JSON.parse(manifest) as { readonly tool: JsonObject };
  return {
    description: typeof description === 'string' ? description : null,
    inputSchema: inputSchema ?? {},
    outputSchema: isObject(outputSchema) ? (outputSchema as JsonObject) : null,
    annotations: isObject(annotations) ? (annotations as JsonObject) : null,
    sha256: crypto.hash('sha256', canonicalText(tool), 'hex'),
  };
}

/** Beside its place first: whoever reads the lock finds the old one or the new one, and never a part. */
async function writeWhole(file: string, text: string): Promise<string | null> {
  const fresh = `${file}-${process.pid}.new`;
  try {
    const handle = await open(fresh, 'w');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
    return null;
  } catch (error) {
    await rm(fresh, { force: true });
    return `'${file}' cannot be written (${(error as NodeJS.ErrnoException).code}): check its folder and mode`;
  }
}
