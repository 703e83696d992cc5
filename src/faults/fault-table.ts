/** Every fault that the faulty upstream can make, with its settings, as data. Rules, the list and the docs use it. */
import { count, type Field, text } from '../config/shape/shape.ts';

export interface FaultEntry {
  readonly says: string;
  readonly settings: readonly (keyof Settings)[];
  /** Drawn by --seed and --rate: the faults of an honest upstream on a bad day. */
  readonly drawn?: true;
}

export const faults = {
  none: { says: 'answers as it should', settings: [] },
  drop_before: { says: 'cuts the connection before the effect', settings: [], drawn: true },
  drop_after: { says: 'makes the effect, then cuts the connection', settings: [], drawn: true },
  slow: { says: 'waits, then makes the effect and answers', settings: ['ms'], drawn: true },
  slow_after: { says: 'makes the effect, then waits and answers', settings: ['ms'], drawn: true },
  late_execution: {
    says: 'cuts the connection, or never answers, and makes the effect later',
    settings: ['ms', 'answer'],
    drawn: true,
  },
  duplicate: { says: 'makes the effect twice, unless a key deduplicates it', settings: [] },
  '429': {
    says: 'answers 429, with Retry-After in either form or without',
    settings: ['retry_after', 'seconds'],
    drawn: true,
  },
  '500': { says: 'answers 500, before or after the effect', settings: ['when'], drawn: true },
  '502': { says: 'answers 502, before or after the effect', settings: ['when'], drawn: true },
  '503': { says: 'answers 503, before or after the effect', settings: ['when'], drawn: true },
  malformed: { says: 'makes the effect and answers what is not JSON', settings: [], drawn: true },
  wrong_schema: { says: 'makes the effect and answers JSON of another shape', settings: [], drawn: true },
  truncated: { says: 'makes the effect and ends before the announced length', settings: [], drawn: true },
  huge: { says: 'makes the effect and answers many bytes', settings: ['bytes'] },
  '401': { says: 'answers 401, nothing is done', settings: [] },
  '403': { says: 'answers 403, nothing is done', settings: [] },
  '404': { says: 'answers 404, nothing is done', settings: [] },
  '409': { says: 'answers 409 with the code of an idempotency conflict, nothing is done', settings: ['subject'] },
  '412': { says: 'answers 412, nothing is done', settings: [] },
  problem: { says: 'answers application/problem+json with this status and code', settings: ['status', 'code', 'when'] },
  rpc_status: { says: 'answers an error in the shape of google.rpc.Status', settings: ['rpc', 'when'] },
  redirect: { says: 'answers 307 to another address, nothing is done', settings: ['to'] },
  refuse_connections: { says: 'cuts every connection and refuses new ones for a while', settings: ['ms'] },
  tool_error: { says: 'MCP: a result with isError; HTTP: 422', settings: ['when'] },
  rpc_error: { says: 'MCP: a JSON-RPC error; HTTP: 500', settings: ['when'] },
} as const satisfies Record<string, FaultEntry>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as readonly FaultName[];
export const entryOf = (name: FaultName): FaultEntry => faults[name];

export interface Settings {
  readonly ms: number;
  readonly answer: 'drop' | 'nothing';
  readonly retry_after: 'seconds' | 'http_date' | 'none';
  readonly seconds: number;
  readonly when: 'before' | 'after';
  readonly bytes: number;
  readonly subject: 'in_flight' | 'completed' | 'mismatch';
  readonly status: number;
  readonly code: string;
  readonly rpc: RpcStatus;
  readonly to: string;
}

/** The numbers of google.rpc.Code, and the HTTP status of each. */
export const rpcStatuses = {
  INVALID_ARGUMENT: [3, 400],
  DEADLINE_EXCEEDED: [4, 504],
  NOT_FOUND: [5, 404],
  ALREADY_EXISTS: [6, 409],
  PERMISSION_DENIED: [7, 403],
  RESOURCE_EXHAUSTED: [8, 429],
  FAILED_PRECONDITION: [9, 400],
  ABORTED: [10, 409],
  INTERNAL: [13, 500],
  UNAVAILABLE: [14, 503],
  UNAUTHENTICATED: [16, 401],
} as const;
export type RpcStatus = keyof typeof rpcStatuses;

export const defaultSettings: Settings = {
  ms: 1_000,
  answer: 'drop',
  retry_after: 'seconds',
  seconds: 1,
  when: 'before',
  bytes: 16 << 20,
  subject: 'in_flight',
  status: 422,
  code: 'declined',
  rpc: 'UNAVAILABLE',
  to: '/elsewhere',
};

const oneOf = (says: string, ...names: readonly string[]): Field => ({ shape: text(says, { oneOf: names }) });

export const settingShapes: Readonly<Record<keyof Settings, Field>> = {
  ms: { shape: count('milliseconds', 0, 3_600_000) },
  answer: oneOf('what the caller sees meanwhile', 'drop', 'nothing'),
  retry_after: oneOf('form of the header', 'seconds', 'http_date', 'none'),
  seconds: { shape: count('seconds to wait', 0, 86_400) },
  when: oneOf('before or after the effect', 'before', 'after'),
  bytes: { shape: count('bytes of the answer', 1, 64 << 20) },
  subject: oneOf('state of the key', 'in_flight', 'completed', 'mismatch'),
  status: { shape: count('HTTP status', 400, 599) },
  code: { shape: text('code', { pattern: ['^[a-z0-9_]{1,64}$', '1 to 64 small letters, digits or _'] }) },
  rpc: oneOf('name of google.rpc.Code', ...Object.keys(rpcStatuses)),
  to: { shape: text('address', { pattern: ['^(/|https?://)[!-~]{0,500}$', 'a path or an http address'] }) },
};

export interface Fault extends Settings {
  readonly fault: FaultName;
}

export const faultOf = (fault: FaultName, settings: Partial<Settings> = {}): Fault => ({
  ...defaultSettings,
  ...settings,
  fault,
});
