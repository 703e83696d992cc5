/**
 * Detects whether a guard reads the inputs. While only reachability is judged, `event.inputs` is a proxy that records
 * any access, even if the guard catches the error. `event.result` does not exist for guards.
 */
import type { Json } from '../../values/json.ts';

/** What a guard is shown, and what it looked at. */
export interface Probe {
  readonly event: object;
  /** The inputs are not known. */
  readonly isTrap: boolean;
  /** Both are set to false before each guard. */
  touchedInputs: boolean;
  readResult: boolean;
}

/** Nobody but the trap throws it. Made once: writing down where an error happened takes longer than a guard. */
const signal = new Error('the inputs are not known yet');

export function isSignal(thrown: unknown): boolean {
  return thrown === signal;
}

const touches = [
  'get',
  'has',
  'ownKeys',
  'getOwnPropertyDescriptor',
  'getPrototypeOf',
  'isExtensible',
  'set',
  'defineProperty',
  'deleteProperty',
  'preventExtensions',
  'setPrototypeOf',
] as const;

/** An event of the action whose inputs are a trap. */
export function probeWithoutInputs(action: string): Probe {
  const touch = () => {
    probe.touchedInputs = true;
    throw signal;
  };
  const probe = makeProbe(action, new Proxy({}, Object.fromEntries(touches.map((name) => [name, touch]))), true);
  return probe;
}

/** An event of the action with these inputs, which must be frozen. */
export function probeWith(action: string, inputs: Json): Probe {
  return makeProbe(action, inputs, false);
}

function makeProbe(action: string, inputs: unknown, isTrap: boolean): Probe {
  const probe: { -readonly [Key in keyof Probe]: Probe[Key] } = {
    event: nothing,
    isTrap,
    touchedInputs: false,
    readResult: false,
  };
  probe.event = Object.freeze(new Judged(action, inputs, probe));
  return probe;
}

const nothing = Object.freeze({});

/** The result is not a field of its own: an event that is only copied is not yet read. */
class Judged {
  readonly type: string;
  readonly inputs: unknown;
  readonly #probe: Probe;

  constructor(type: string, inputs: unknown, probe: Probe) {
    this.type = type;
    this.inputs = inputs;
    this.#probe = probe;
  }

  get result(): never {
    this.#probe.readResult = true;
    throw new Error('a guard cannot read event.result: it is judged before the action runs');
  }
}
