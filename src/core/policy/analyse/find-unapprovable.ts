/**
 * Finds deferred calls that nobody could approve, by the written policy and, where known, the existing keys. Looks
 * nothing up.
 */
import { type ApprovalTerms, defaultTerms } from '../../approval/approval.ts';
import { durationText } from '../../values/duration.ts';
import { nearest } from '../../values/nearest.ts';
import type { PolicyProblem, WrittenAgent, WrittenPolicy } from '../policy.ts';

export interface ApprovalFinding extends PolicyProblem {
  readonly severity: 'error' | 'warning';
}

export interface ApprovalContext {
  /** How long a client waits for an approval if it does not say. */
  readonly waitMs: number;
  /** The names of those who have a key that may approve; null if nobody knows. */
  readonly holders: ReadonlySet<string> | null;
}

type Roles = ReadonlyMap<string, readonly string[]>;

interface Deferring {
  readonly agent: string;
  /** The first rule with these terms; null for the default. */
  readonly rule: number | null;
  /** The budget whose end is deferred; of a rule there is none. */
  readonly budget?: string;
  readonly terms: ApprovalTerms;
  /** Those who could approve by their roles, the agent left out; null for everybody. */
  readonly people: readonly string[] | null;
}

export function findUnapprovable(policy: WrittenPolicy, context: ApprovalContext): readonly ApprovalFinding[] {
  const roles = new Map(Object.entries(policy.roles ?? {}));
  const budgets = budgetsIn(policy);
  const peopleOf = createPeople(roles);
  const all = [
    ...policy.agents.flatMap((agent) => deferringIn(agent, roles, peopleOf)),
    ...budgets.flatMap((each) => (hasEmptyRole(each.terms, roles) ? [] : [{ ...each, ...peopleFor(each, peopleOf) }])),
  ];
  const wrong = all.map((each) => findFew(each));
  const sound = all.filter((_, at) => wrong[at]?.length === 0);
  const { holders } = context;
  return [
    ...policy.agents.flatMap((agent) => findNobody(agent, roles)),
    ...budgets.flatMap((each) => (each.terms.roles ?? []).flatMap((role) => findEmpty(role, each, undefined, roles))),
    ...wrong.flat(),
    ...all.flatMap((each) => findShort(each, context.waitMs)),
    ...findOpen(all),
    ...(holders === null ? [] : findKeyless(sound, holders)),
  ];
}

/** One rule as it is written may be several; they have their terms in common. */
function termsIn({ rules, default: last }: WrittenAgent): ReadonlyMap<ApprovalTerms, number | null> {
  const first = new Map<ApprovalTerms, number | null>();
  for (const [index, { effect, terms = defaultTerms }] of rules.entries())
    if (effect === 'defer' && !first.has(terms)) first.set(terms, index);
  if (last?.effect === 'defer' && !first.has(last.terms ?? defaultTerms)) first.set(last.terms ?? defaultTerms, null);
  return first;
}

type PeopleOf = (named: readonly string[]) => readonly string[];

/** Each list of roles is looked through once, however many rules use it. */
function createPeople(roles: Roles): PeopleOf {
  const known = new Map<readonly string[], readonly string[]>();
  return (named) => {
    const people = known.get(named) ?? [...new Set(named.flatMap((role) => roles.get(role) ?? []))];
    known.set(named, people);
    return people;
  };
}

/** Of a role that nobody has it is told; how many others there are does not matter then. */
const hasEmptyRole = (terms: ApprovalTerms, roles: Roles): boolean =>
  terms.roles?.some((role) => (roles.get(role)?.length ?? 0) === 0) === true;

const peopleFor = ({ terms }: Pick<Deferring, 'terms'>, peopleOf: PeopleOf): Pick<Deferring, 'people'> => ({
  people: terms.roles === null ? null : peopleOf(terms.roles),
});

function deferringIn(written: WrittenAgent, roles: Roles, peopleOf: PeopleOf): readonly Deferring[] {
  const { agent } = written;
  return [...termsIn(written)].flatMap(([terms, rule]) =>
    hasEmptyRole(terms, roles) ? [] : [{ agent, rule, terms, ...peopleFor({ terms }, peopleOf) }],
  );
}

/** Budgets beyond which a person is asked; the agent is empty where agents share one. */
function budgetsIn({ agents, budgets = [] }: WrittenPolicy): readonly Omit<Deferring, 'people'>[] {
  const owned = [{ agent: '', budgets }, ...agents.map(({ agent, budgets: own = [] }) => ({ agent, budgets: own }))];
  return owned.flatMap(({ agent, budgets: all }) =>
    all.flatMap(({ name: budget, onExceed, terms }) =>
      onExceed === 'defer' ? [{ agent, rule: null, budget, terms }] : [],
    ),
  );
}

/** Each list of roles is told of once, however many rules use it. */
function findNobody(written: WrittenAgent, roles: Roles): readonly ApprovalFinding[] {
  const { agent } = written;
  const lists = new Map<readonly string[], number | null>();
  for (const [{ roles: named }, rule] of termsIn(written))
    if (named !== null && !lists.has(named)) lists.set(named, rule);
  return [...lists].flatMap(([named, rule]) =>
    named.flatMap((role, index) => findEmpty(role, { agent, rule }, index, roles)),
  );
}

function findEmpty(role: string, at: Spot, index: number | undefined, roles: Roles): readonly ApprovalFinding[] {
  const people = roles.get(role);
  if (people !== undefined && people.length > 0) return [];
  const near = people === undefined ? nearest(role, [...roles.keys()]) : null;
  const says = people === undefined ? `there is no role '${role}' under roles` : `nobody has the role '${role}'`;
  const fix = near === null ? `add ${role} under roles, with its people` : `did you mean ${near}?`;
  const message = `${says}: nobody could approve`;
  const place = { ...placeOf(at, 'approvers'), ...(index === undefined ? {} : { index }) };
  return [{ severity: 'error', ...place, message, fix }];
}

type Spot = Pick<Deferring, 'agent' | 'rule' | 'budget'>;
type Field = 'approvers' | 'needs' | 'expires';

/** In the rule or the default, or in the budget. */
function placeOf(
  { agent, rule, budget }: Spot,
  field: Field,
): Pick<PolicyProblem, 'agent' | 'rule' | 'field' | 'budget' | 'part'> {
  return budget === undefined ? { agent, rule, field } : { agent, rule, field: 'budgets', budget, part: field };
}

/** What no key could mend. */
function findFew(deferring: Deferring): readonly ApprovalFinding[] {
  const { agent, terms, people } = deferring;
  if (people === null) return [];
  const { needed, clientMayApprove, roles } = terms;
  const others = people.filter((name) => name !== agent);
  const most = others.length + (clientMayApprove ? 1 : 0);
  if (most >= needed) return [];
  const named = roles?.join(', ') ?? '';
  if (most === 0) {
    const message = `only ${agent} itself could approve as ${named}, and who asks may not`;
    return [
      {
        severity: 'error',
        ...placeOf(deferring, 'approvers'),
        message,
        fix: `add other people to ${named} under roles`,
      },
    ];
  }
  const could = [...others.slice(0, maxNamed), ...(clientMayApprove ? ['the user of its client'] : [])];
  const but = others.length < people.length ? `; ${agent} itself may not` : '';
  const message = `${needed} people must approve, and as ${named} only ${most} could: ${could.join(', ')}${but}`;
  return [
    {
      severity: 'error',
      ...placeOf(deferring, 'needs'),
      message,
      fix: `add people to ${named}, or use needs: ${most}`,
    },
  ];
}

/** Who waits for longer than an approval stands comes too late. */
function findShort(deferring: Deferring, waitMs: number): readonly ApprovalFinding[] {
  const { expiresMs } = deferring.terms;
  if (expiresMs >= waitMs) return [];
  const waits = durationText(waitMs);
  const message = `this expires after ${durationText(expiresMs)}, and a client waits ${waits} for an approval`;
  const fix = `use expires: ${waits} or longer, or a smaller approval_wait_ms under runtime.limits`;
  return [{ severity: 'warning', ...placeOf(deferring, 'expires'), message, fix }];
}

/** Told once for each agent: it is a choice, and a wide one. */
function findOpen(all: readonly Deferring[]): readonly ApprovalFinding[] {
  const first = new Map<string, Deferring>();
  for (const each of all) if (each.people === null && !first.has(each.agent)) first.set(each.agent, each);
  return [...first.values()].map((each) => {
    const { agent, budget } = each;
    const what = budget === undefined ? `what is deferred for ${agent}` : `spending beyond the budget ${budget}`;
    const where = budget === undefined ? 'the agent or the rule' : 'the budget';
    return {
      severity: 'warning',
      ...placeOf(each, 'approvers'),
      message: `${what} names no approvers: every key of role approver or admin may approve`,
      fix: `add approvers: [role] to ${where}, and who has it under roles`,
    };
  });
}

/** What a key would mend. */
function findKeyless(all: readonly Deferring[], holders: ReadonlySet<string>): readonly ApprovalFinding[] {
  const short = all.flatMap((each) => {
    const { needed, clientMayApprove, roles } = each.terms;
    const people = (each.people ?? [...holders]).filter((name) => name !== each.agent);
    const keyed = people.filter((name) => holders.has(name));
    if (keyed.length + (clientMayApprove ? 1 : 0) >= needed) return [];
    const without = people.filter((name) => !holders.has(name));
    const who = keyed.length === 0 ? 'nobody' : `only ${listed(keyed)}`;
    const must = needed === 1 ? '' : `${needed} people must approve, and `;
    const as = roles === null ? '' : ` of ${roles.join(', ')}`;
    const none = without.length === 0 ? '' : `; ${listed(without)} ${without.length === 1 ? 'has' : 'have'} none`;
    return [keyless(each, `${must}${who}${as} has a key of role approver or admin${none}`, without[0])];
  });
  const [first] = all;
  // Without any key every rule would say the same.
  if (holders.size > 0 || first === undefined || short.length === 0) return short;
  return [keyless(first, 'calls are deferred, and nobody has a key of role approver or admin')];
}

const keyless = (deferring: Deferring, message: string, person = 'NAME'): ApprovalFinding => ({
  severity: 'warning',
  ...placeOf(deferring, 'approvers'),
  message,
  fix: `make one with: recourse agents add ${person} --role approver`,
});

const maxNamed = 5;

function listed(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return names.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
