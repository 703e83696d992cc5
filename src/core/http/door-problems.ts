/**
 * The problems that the HTTP door reports where there is no call: authentication, unknown paths and the like. They
 * have a `code`, but no `error` and no `effect`; errors of calls belong to the taxonomy.
 */
export const doorProblems = {
  MalformedRequest: { status: 400, title: 'Not a request that can be read' },
  Unauthenticated: { status: 401, title: 'No key, or not a valid one' },
  RoleForbidden: { status: 403, title: 'This key may not do that' },
  OwnRequest: { status: 403, title: 'Who asked for it may not approve it' },
  NotAnApprover: { status: 403, title: 'Somebody else must approve it' },
  NotAnAnswerer: { status: 403, title: 'Somebody else must answer it' },
  HostForbidden: { status: 403, title: 'Called by a name that is not ours' },
  OriginForbidden: { status: 403, title: 'Pages of this origin may not call' },
  NoSuchPath: { status: 404, title: 'Nothing is at this path' },
  UnknownCall: { status: 404, title: 'No such call' },
  UnknownSession: { status: 404, title: 'No such session' },
  UnknownApproval: { status: 404, title: 'No such approval' },
  UnknownTicket: { status: 404, title: 'No such ticket' },
  UnknownFeedback: { status: 404, title: 'No such feedback, proposal or release' },
  UnknownBudget: { status: 404, title: 'No such budget' },
  UnknownModel: { status: 404, title: 'No such model' },
  MethodNotAllowed: { status: 405, title: 'Not with this method' },
  RequestTimeout: { status: 408, title: 'The request took too long to arrive' },
  AmbiguousId: { status: 409, title: 'The id is too short' },
  NotInDoubt: { status: 409, title: 'The call is not in doubt' },
  InQuarantine: { status: 409, title: 'The call may still be carried out' },
  NotToCancel: { status: 409, title: 'It has ended, or runs in another process' },
  NotPending: { status: 409, title: 'It is decided, or over' },
  AnotherCameFirst: { status: 409, title: 'Another step came first' },
  GoldensBroken: { status: 409, title: 'Goldens would come out otherwise' },
  TicketTaken: { status: 409, title: 'Somebody else has the ticket' },
  AnswerNotPossible: { status: 409, title: 'As the call stands, this is no answer' },
  TicketClosed: { status: 409, title: 'The ticket is closed already' },
  AlreadyApproved: { status: 409, title: 'This person has approved it already' },
  SawAnother: { status: 409, title: 'What was seen is not what is there' },
  UnsupportedMediaType: { status: 415, title: 'The body must be JSON' },
  BadProposal: { status: 422, title: 'The proposal does not fit' },
  BadEdit: { status: 422, title: 'The changed call does not fit' },
  BadAnswer: { status: 422, title: 'The answer cannot be kept' },
  TooManyComments: { status: 422, title: 'The ticket takes no more comments' },
  BadAmount: { status: 422, title: 'The amount does not fit the budget' },
  HeadersTooLarge: { status: 431, title: 'The headers are too large' },
  KeysUnavailable: { status: 503, title: 'The keys cannot be read now' },
  OutcomeUnknown: { status: 503, title: 'Nobody knows whether it was recorded' },
  TooManyConnections: { status: 503, title: 'Too many connections are open' },
  TooManyStreams: { status: 503, title: 'Too many streams are open' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

/** The hint for callers without a key. Names no path, because anyone can read it. */
export const whereKeysAre =
  "recourse agents add <name> makes one, on the gateway's machine; recourse up tells there where the operator's is kept";

/** Why nobody is let in with what was sent, in the same words at every door. */
export const whyUnknown = {
  missing: `send a key in the header Authorization: Bearer <key>; ${whereKeysAre}`,
  unknown: `the key is not known, has expired or was revoked; ${whereKeysAre}`,
  malformed: `the header Authorization must be: Bearer <key>; ${whereKeysAre}`,
  unavailable: 'the keys cannot be read at the moment; an operator was told',
} as const;

/** At the paths for clients of models. */
export const whyUnknownToModels = {
  ...whyUnknown,
  missing: `send the key of an agent as Authorization: Bearer <key>, or as x-api-key; ${whereKeysAre}`,
  malformed: `send one key of an agent, as Authorization: Bearer <key> or as x-api-key, the same if both; ${whereKeysAre}`,
} as const;

export type DoorCode = keyof typeof doorProblems;

export interface DoorProblem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: DoorCode;
}

export function doorProblem(code: DoorCode, detail: string): DoorProblem {
  const { status, title } = doorProblems[code];
  return { type: problemType(code), title, status, detail, code };
}

/** A name, not a URL; the page of the code is in docs/codes. */
export const problemType = (code: string): string => `urn:recourse:code:${code}`;

/** The codes that come with this status. */
export const doorCodesOf = (status: number): readonly DoorCode[] =>
  (Object.keys(doorProblems) as DoorCode[]).filter((code) => doorProblems[code].status === status);
