/**
 * The world of the chaos with models: two providers in one process, with prices, and agents with a budget each. What
 * becomes of a request is drawn from a seed: answers, refusals, lost connections, streams that break.
 */
import type { Random } from '../../simulation/random.ts';
import type { Prices } from '../../support/models/ledger.ts';
import { anthropicErrors, openaiErrors } from '../../support/models/provider-errors.ts';
import type { Asked } from '../../support/models/said.ts';
import type { Fault, Script } from '../../support/models/script.ts';
import type { Provider } from '../../support/models/start-provider.ts';

/** How many clients ask at once. */
export const clientsAtOnce = 64;
export const agentCount = 12;
export const agentOf = (at: number): string => `a${at % agentCount}`;
export const accountOf = (agent: string): string => `agent/${agent}/spent/USD`;

export const chatModel = 'gpt-5';
export const messagesModel = 'claude-opus-5';

/** In dollars for a million tokens, so that a token is a whole number of millionths. */
export const prices: Readonly<Record<string, Prices>> = {
  [chatModel]: { input: 1_000, output: 4_000, cacheRead: 100 },
  [messagesModel]: { input: 1_500, output: 3_000, cacheRead: 150, cacheWrite: 1_900 },
};

const priceOf = (model: string): string => {
  const { input = 0, output = 0, cacheRead, cacheWrite } = prices[model] ?? {};
  const more = [
    ...(cacheRead === undefined ? [] : [`cached: ${cacheRead} USD`]),
    ...(cacheWrite === undefined ? [] : [`cache_write: ${cacheWrite} USD`]),
  ];
  return `{ ${[`input: ${input} USD`, ...more, `output: ${output} USD`].join(', ')} }`;
};

const providerOf = (kind: string, url: string, model: string): string => `    kind: ${kind}
    url: ${url}
    timeout: 20s
    breaker: off
    retry: { max_attempts: 2, backoff: fixed, base: 150ms, jitter: 0.2 }
    models: { ${model}: { context: 100000, max_output: 4000, price: ${priceOf(model)} } }
`;

export const projectOf = ({ openai, anthropic }: Provider, maxDollars: number): string => `models:
  gpt:
${providerOf('openai', openai, chatModel)}  claude:
${providerOf('anthropic', anthropic, messagesModel)}agents:
${Array.from(
  { length: agentCount },
  (_, at) => `  ${agentOf(at)}:
    rules: [{ permit: gpt/* }, { permit: claude/* }]
    budgets: { spent: { match: '**', max: ${maxDollars} USD, cost: usage.cost, window: total } }
`,
).join('')}`;

const weights = { well: 66, refused: 10, lost: 6, dropped: 6, cut: 4, told: 4, garbled: 2, slow: 2 } as const;

/** INVARIANT: nothing is billed beyond what the gateway can know that a request may use. */
export function scriptFor({ model, body }: Asked, random: Random): Script {
  const output = random.between(5, Number(body['max_tokens'] ?? 50));
  const input = random.between(100, 400);
  const cacheRead = random.between(0, 50);
  const cacheWrite = model === messagesModel ? random.between(0, 40) : 0;
  const says = { text: random.text(random.between(20, 400)), pieceChars: 20 };
  const well = { says: { ...says, tokens: { input, output, cacheRead, cacheWrite } }, paceMs: random.between(1, 12) };
  const after = random.between(1, 6);
  const withFault = (fault: Fault): Script => ({ ...well, fault });
  switch (random.weighted(weights)) {
    case 'refused':
      return { refuses: random.pick(Object.values(model === messagesModel ? ofAnthropic : ofOpenai)) };
    case 'lost':
      return withFault({ kind: 'drop', when: random.pick(['before_head', 'after_head'] as const) });
    case 'dropped':
      return withFault({ kind: 'drop', when: after });
    case 'cut':
      return withFault({ kind: 'end_early', after });
    case 'told':
      return withFault({ kind: 'error_event', after, ...errorEventOf(model) });
    case 'garbled':
      return withFault({ kind: 'malformed', after });
    case 'slow':
      return { ...well, paceMs: 60 };
    default:
      return well;
  }
}

const { failed, limited, contentRefused, tooLarge } = openaiErrors;
const ofOpenai = { failed, limited, contentRefused, tooLarge };
const { failed: broken, overloaded, contextTooLong, limited: tooMany } = anthropicErrors;
const ofAnthropic = { broken, overloaded, contextTooLong, tooMany };

const errorEventOf = (model: string) =>
  model === messagesModel
    ? { event: 'error', data: anthropicErrors.overloaded.body }
    : { event: null, data: openaiErrors.failed.body };
