/**
 * The commands `agents …`: list, add, rotate and revoke keys. A new key is printed once, alone on standard output.
 * Keys are shown nowhere else, and one that was typed is never repeated.
 */
import type { KeyRole } from '../../../core/call/identity.ts';
import type { CommandName } from '../arguments/commands.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Command } from '../arguments/read-command-line.ts';
import { timeOf } from '../print/shapes.ts';
import { type Column, writeTable } from '../print/table.ts';
import { harmless, type Terminal } from '../terminal.ts';

/** A key as the keyring lists it: everything but the key. */
export interface ListedKey {
  readonly id: string;
  readonly tenant: string;
  readonly role: KeyRole;
  readonly name: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly usedAtMs: number | null;
}

export interface ShownKey {
  readonly entry: ListedKey;
  readonly key: string;
}

export type KeysAnswer<Value> =
  | { readonly kind: 'answered'; readonly value: Value }
  /** `request`: it is malformed. `keys`: the keys do not allow it. `store`: they cannot be read or written. */
  | { readonly kind: 'refused'; readonly because: 'request' | 'keys' | 'store'; readonly message: string };

interface WhichKey {
  readonly tenant: string;
  readonly id: string;
}

export interface AgentsParts {
  /** The user of this machine who runs the command. */
  readonly operator: () => string;
  readonly nowMs: () => number;
  /** Null for what is no duration. */
  readonly durationMs: (text: string) => number | null;
  readonly list: (file: string, tenant: string) => Promise<KeysAnswer<readonly ListedKey[]>>;
  readonly add: (
    file: string,
    key: Pick<ListedKey, 'tenant' | 'role' | 'name' | 'createdBy' | 'expiresAtMs'>,
    nowMs: number,
  ) => Promise<KeysAnswer<ShownKey | null>>;
  readonly rotate: (
    file: string,
    which: WhichKey & { readonly graceMs: number; readonly by: string },
    nowMs: number,
  ) => Promise<KeysAnswer<ShownKey | null>>;
  readonly revoke: (file: string, which: WhichKey, nowMs: number) => Promise<KeysAnswer<boolean>>;
}

export type RunOnKeys = (command: Command, file: string, parts: AgentsParts, terminal: Terminal) => Promise<ExitCode>;

const defaultTenant = 'default';
const tenantOf = ({ said }: Command): string => said.tenant ?? defaultTenant;

export const listKeys: RunOnKeys = async (command, file, parts, terminal) => {
  const answer = await parts.list(file, tenantOf(command));
  if (answer.kind === 'refused') return reportRefused(command.name, answer, terminal);
  const { agent } = command.filter;
  const keys = answer.value.filter(({ name }) => agent === undefined || name === agent);
  const nowMs = parts.nowMs();
  if (command.json) for (const key of keys) terminal.print(`${JSON.stringify(keyShape(key, nowMs))}\n`);
  else if (keys.length > 0) terminal.print(writeTable(columnsAt(nowMs), keys, terminal.paint));
  else
    terminal.tell(
      `no ${agent === undefined ? 'key' : 'such key'} in tenant '${harmless(tenantOf(command))}'; recourse agents add makes one.\n`,
    );
  return exitCodes.done.code;
};

export const addKey: RunOnKeys = async (command, file, parts, terminal) => {
  const nowMs = parts.nowMs();
  const lifeMs = command.said.expires === undefined ? null : parts.durationMs(command.said.expires);
  if (command.said.expires !== undefined && lifeMs === null) return reportDuration('expires', command, terminal);
  const key = {
    tenant: tenantOf(command),
    role: (command.said.role ?? 'agent') as KeyRole,
    name: command.argument,
    createdBy: parts.operator(),
    expiresAtMs: lifeMs === null ? null : nowMs + lifeMs,
  };
  const answer = await parts.add(file, key, nowMs);
  if (answer.kind === 'refused') return reportRefused(command.name, answer, terminal);
  if (answer.value === null) throw new Error('bug: a key that was added is not there');
  return show(answer.value, nowMs, command, terminal, 'has a key');
};

export const rotateKey: RunOnKeys = async (command, file, parts, terminal) => {
  if (!isKeyId(command.argument)) return reportNoId(command, terminal);
  const nowMs = parts.nowMs();
  const graceMs = command.said.grace === undefined ? 0 : parts.durationMs(command.said.grace);
  if (graceMs === null) return reportDuration('grace', command, terminal);
  const which = { tenant: tenantOf(command), id: command.argument, graceMs, by: parts.operator() };
  const answer = await parts.rotate(file, which, nowMs);
  if (answer.kind === 'refused') return reportRefused(command.name, answer, terminal);
  if (answer.value === null) return reportNoKey(command, terminal);
  const until = graceMs === 0 ? 'ends now' : `works until ${timeOf(nowMs + graceMs)} at most`;
  return show(answer.value, nowMs, command, terminal, `has another key, and ${command.argument} ${until}`);
};

export const revokeKey: RunOnKeys = async (command, file, parts, terminal) => {
  if (!isKeyId(command.argument)) return reportNoId(command, terminal);
  const [tenant, id] = [tenantOf(command), command.argument];
  const answer = await parts.revoke(file, { tenant, id }, parts.nowMs());
  if (answer.kind === 'refused') return reportRefused(command.name, answer, terminal);
  if (!answer.value) return reportNoKey(command, terminal);
  if (command.json) terminal.print(`${JSON.stringify({ key_id: id, tenant, revoked: true })}\n`);
  else terminal.print(`${id} is revoked; gateways that run refuse it within a second.\n`);
  return exitCodes.done.code;
};

function show({ entry, key }: ShownKey, nowMs: number, { json }: Command, terminal: Terminal, what: string): ExitCode {
  if (json) {
    terminal.print(`${JSON.stringify({ key, ...keyShape(entry, nowMs) })}\n`);
    return exitCodes.done.code;
  }
  terminal.print(`${key}\n`);
  const end = entry.expiresAtMs === null ? 'has no end' : `ends ${timeOf(entry.expiresAtMs)}`;
  terminal.tell(
    `${entry.role} '${harmless(entry.name)}' of tenant '${harmless(entry.tenant)}' ${what}.\n` +
      `Its id is ${entry.id}; it ${end}. It is shown this once: only its hash is kept.\n` +
      'Send it as: Authorization: Bearer <key>\n',
  );
  return exitCodes.done.code;
}

type Status = 'active' | 'expired' | 'revoked';

function statusOf({ revokedAtMs, expiresAtMs }: ListedKey, nowMs: number): Status {
  if (revokedAtMs !== null) return 'revoked';
  return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : 'active';
}

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timeOf(ms));

/** For programs. Pinned; only added to. */
function keyShape(key: ListedKey, nowMs: number) {
  return {
    key_id: key.id,
    tenant: key.tenant,
    role: key.role,
    name: key.name,
    status: statusOf(key, nowMs),
    created_at: timeOf(key.createdAtMs),
    created_by: key.createdBy,
    expires_at: timeOrNull(key.expiresAtMs),
    revoked_at: timeOrNull(key.revokedAtMs),
    used_at: timeOrNull(key.usedAtMs),
  };
}

const columnsAt = (nowMs: number): readonly Column<ListedKey>[] => [
  { title: 'KEY ID', text: ({ id }) => id, style: () => 'cyan' },
  { title: 'NAME', text: ({ name }) => name, style: () => 'bold' },
  { title: 'ROLE', text: ({ role }) => role },
  {
    title: 'STATUS',
    text: (key) => statusOf(key, nowMs),
    style: (key) => (statusOf(key, nowMs) === 'active' ? 'green' : 'yellow'),
  },
  { title: 'CREATED', text: ({ createdAtMs }) => timeOf(createdAtMs) },
  { title: 'EXPIRES', text: ({ expiresAtMs }) => timeOrNull(expiresAtMs) ?? '-' },
  { title: 'LAST USED', text: ({ usedAtMs }) => timeOrNull(usedAtMs) ?? 'never' },
];

const isKeyId = (text: string): boolean => /^[0-9a-z]{16}$/.test(text);

/** Does not repeat what was typed: it may be a whole key, and output is often kept. */
function reportNoId({ name, argument }: Command, terminal: Terminal): ExitCode {
  const what = argument.startsWith('rk_')
    ? `'${name}' takes the id of a key, not the key: the 16 characters after rk_`
    : `'${name}' takes the id of a key, 16 characters, as agents ls shows them`;
  terminal.tell(`recourse: ${what}. Try: recourse ${name} --help\n`);
  return exitCodes.usage.code;
}

function reportNoKey(command: Command, terminal: Terminal): ExitCode {
  const where = `tenant '${harmless(tenantOf(command))}'`;
  terminal.tell(`recourse: ${where} has no key ${command.argument}; look with: recourse agents ls, or name --tenant\n`);
  return exitCodes.no.code;
}

function reportDuration(option: 'expires' | 'grace', { name }: Command, terminal: Terminal): ExitCode {
  terminal.tell(`recourse: --${option} is a duration such as 90s, 30m, 12h or 30d. Try: recourse ${name} --help\n`);
  return exitCodes.usage.code;
}

const codeOf = { request: exitCodes.usage.code, keys: exitCodes.no.code, store: exitCodes.store.code } as const;

function reportRefused(
  name: CommandName,
  { because, message }: Extract<KeysAnswer<never>, { kind: 'refused' }>,
  terminal: Terminal,
): ExitCode {
  const more = because === 'request' ? `. Try: recourse ${name} --help` : '';
  terminal.tell(`recourse: ${harmless(message)}${more}\n`);
  return codeOf[because];
}
