/**
 * Finds rules that were added, removed, changed or moved, matched by their text. judge-rules.ts decides the direction
 * of a change.
 */
import { defaultTerms } from '../../approval/approval.ts';
import type { Json } from '../../values/json.ts';
import { spellOut } from '../../values/quote.ts';
import { diffFields, type Fields, isFields, ruleTable, termsTable } from './diff-fields.ts';
import {
  createWork,
  isShadowed,
  judgeCome,
  judgeGone,
  judgeOvertaken,
  type Lists,
  type Placed,
  type RuleList,
  type Work,
} from './judge-rules.ts';
import type { Direction, PolicyDetail } from './policy-change.ts';

type Pair = readonly [was: Placed, is: Placed];

export function diffRules(was: RuleList, is: RuleList): readonly PolicyDetail[] {
  const work = createWork();
  const placed = ({ rules }: RuleList): readonly Placed[] => rules.map((rule, index) => [rule, index] as const);
  const same = pairUp(placed(was), placed(is), (rule) => JSON.stringify(rule));
  const reworded = pairUp(same.gone, same.come, ({ match, when }) => JSON.stringify([match, when]));
  const narrowed = pairUp(reworded.gone, reworded.come, ({ effect, match }) => JSON.stringify([effect, match]));
  const changed = [...reworded.pairs, ...narrowed.pairs];
  const around = { was, is, work };
  return [
    ...changed.flatMap((pair) => diffRule(pair, around)),
    ...narrowed.gone.map((each) => ({
      says: `- ${textOf(each[0])}`,
      direction: judgeGone(each, { own: was, other: is, partner: null, work }),
    })),
    ...narrowed.come.map((each) => ({
      says: `+ ${textOf(each[0])} (${is.refOf(each[1])})`,
      direction: judgeCome(each, { own: is, other: was, partner: null, work }),
    })),
    ...diffOrder([...same.pairs, ...changed], around),
  ];
}

/** In order; of several with one key the first goes with the first. */
function pairUp(was: readonly Placed[], is: readonly Placed[], keyOf: (rule: Fields) => string) {
  const waiting = new Map<string, Placed[]>();
  for (const each of is) {
    const key = keyOf(each[0]);
    const others = waiting.get(key);
    if (others === undefined) waiting.set(key, [each]);
    else others.push(each);
  }
  const pairs: Pair[] = [];
  const gone = was.filter((each) => {
    const found = waiting.get(keyOf(each[0]))?.shift();
    if (found !== undefined) pairs.push([each, found]);
    return found === undefined;
  });
  const met = new Set(pairs.map(([, [, index]]) => index));
  return { pairs, gone, come: is.filter(([, index]) => !met.has(index)) };
}

interface Around {
  readonly was: RuleList;
  readonly is: RuleList;
  readonly work: Work;
}

function diffRule(pair: Pair, around: Around): readonly PolicyDetail[] {
  const [[before], [after, at]] = pair;
  const { when: old, ...rest } = before;
  const { when: now, ...others } = after;
  const head = `${String(after['effect'])} ${spellOut(String(after['match']))}`;
  const asked =
    old !== now ? [{ says: `when: ${whenText(old)} → ${whenText(now)}`, direction: whenWay(pair, around) }] : [];
  // How another effect wants to be asked for is no change of its own.
  const isOther = rest['effect'] !== others['effect'];
  const { terms: _was, ...effectBefore } = rest;
  const { terms: _is, ...effectAfter } = others;
  const told = isOther ? diffFields(effectBefore, effectAfter, ruleTable) : diffFields(rest, others, ruleTable);
  return [...asked, ...told].map(({ says, direction }) => ({
    says: `${head}: ${says.replace(/^terms: /, '')} (${around.is.refOf(at)})`,
    direction,
  }));
}

/**
 * With a condition a rule leaves calls to others that it had decided, without one it takes them; with another it may do
 * both.
 */
function whenWay([before, after]: Pair, { was, is, work }: Around): Direction {
  const losing: Lists = { own: was, other: is, partner: after[1], work };
  const taking: Lists = { own: is, other: was, partner: before[1], work };
  if (before[0]['when'] === null) return judgeGone(before, losing);
  if (after[0]['when'] === null) return judgeCome(after, taking);
  const ways = [judgeGone(before, losing), judgeCome(after, taking)];
  return ways.includes('weaker') || ways.includes('maybe_weaker') ? 'maybe_weaker' : 'other';
}

const whenText = (value: Json | undefined): string => (typeof value === 'string' ? spellOut(value) : 'always');

const maxTold = 5;

function diffOrder(pairs: readonly Pair[], around: Around): readonly PolicyDetail[] {
  const inOrder = pairs.toSorted(([[, a]], [[, b]]) => a - b);
  const isMoved = inOrder.some(([, [, at]], index) => at < (inOrder[index - 1]?.[1][1] ?? -1));
  if (!isMoved) return [];
  const { found, direction } = overtaken(inOrder, around);
  return found.length > 0 && found.length <= maxTold
    ? found
    : [{ says: 'the rules stand in another order', direction }];
}

/**
 * Stops where there are too many to be told and the worst is known, or where too much was compared: then more may be
 * weaker.
 */
function overtaken(inOrder: readonly Pair[], { was, is, work }: Around) {
  const found: PolicyDetail[] = [];
  let direction: Direction = 'other';
  for (const [index, [before, [rule, at]]] of inOrder.entries())
    for (let next = index + 1; next < inOrder.length; next++) {
      const later = inOrder[next]?.[1];
      if (--work.left < 0)
        return { found: [], direction: direction === 'weaker' ? direction : 'maybe_weaker' } as const;
      if (later === undefined || later[1] > at) continue;
      const way = judgeOvertaken(before, later, work);
      if (way === null || isShadowed(before, was, work) || isShadowed(later, is, work)) continue;
      if (direction !== 'weaker') direction = way;
      if (found.length <= maxTold)
        found.push({ says: `${textOf(rule)} stands behind ${textOf(later[0])} now`, direction: way });
      else if (direction === 'weaker') return { found, direction };
    }
  return { found, direction };
}

/** As it is written, with how it asks where that is not the usual way. */
function textOf({ effect, match, when, reason, terms }: Fields): string {
  const asks = isFields(terms) ? diffFields({ ...defaultTerms }, terms, termsTable) : [];
  return [
    `${String(effect)} ${spellOut(String(match))}`,
    typeof when === 'string' ? `when ${spellOut(when)}` : '',
    ...asks.map(({ says }) => says.replace(/: .* → /, ' ')),
    typeof reason === 'string' ? `reason '${spellOut(reason)}'` : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}
