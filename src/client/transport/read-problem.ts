/**
 * Reads a refusal by the HTTP door, before there was a call: it has a code of its own, and nothing ran. Any other
 * body that is no reply proves nothing.
 */
import type { DoorCode } from '../../core/http/door-problems.ts';

export interface Problem {
  /** Null if it is not one of the door's own. */
  readonly code: DoorCode | null;
  /** What the body says of itself, for a person. */
  readonly words: string;
}

const doorCodes = {
  MalformedRequest: true,
  Unauthenticated: true,
  RoleForbidden: true,
  OwnRequest: true,
  NotAnApprover: true,
  NotAnAnswerer: true,
  HostForbidden: true,
  OriginForbidden: true,
  NoSuchPath: true,
  UnknownCall: true,
  UnknownApproval: true,
  UnknownTicket: true,
  UnknownBudget: true,
  UnknownFeedback: true,
  AnotherCameFirst: true,
  GoldensBroken: true,
  BadProposal: true,
  UnknownModel: true,
  MethodNotAllowed: true,
  RequestTimeout: true,
  AmbiguousId: true,
  NotInDoubt: true,
  InQuarantine: true,
  NotPending: true,
  TicketTaken: true,
  AnswerNotPossible: true,
  NotToCancel: true,
  UnknownSession: true,
  TicketClosed: true,
  AlreadyApproved: true,
  SawAnother: true,
  UnsupportedMediaType: true,
  BadEdit: true,
  BadAnswer: true,
  TooManyComments: true,
  BadAmount: true,
  HeadersTooLarge: true,
  KeysUnavailable: true,
  OutcomeUnknown: true,
  TooManyConnections: true,
  TooManyStreams: true,
} as const satisfies Record<DoorCode, true>;

const maxWords = 200;

export function readProblem(body: unknown): Problem {
  if (typeof body !== 'object' || body === null) return { code: null, words: '' };
  const { type, title, detail, code } = body as Readonly<Record<string, unknown>>;
  const isDoors = typeof code === 'string' && Object.hasOwn(doorCodes, code) && type === `urn:recourse:code:${code}`;
  const words = [title, detail].filter((each) => typeof each === 'string').join(': ');
  return { code: isDoors ? (code as DoorCode) : null, words: words.slice(0, maxWords) };
}
