/**
 * The retry budget of one upstream, as in gRPC: failures take tokens, successes give a tenth of one back, and nothing
 * is retried below half. Keeps retries from multiplying the load of an upstream that is down. Pure.
 */
export const maxTokens = 10;
const tokensPerSuccess = 0.1;

/** Whether one more retry is within the budget; it takes a token. */
export const mayTakeToken = (tokens: number): boolean => tokens > maxTokens / 2;

export const takeToken = (tokens: number): number => Math.max(0, tokens - 1);

export const giveTokens = (tokens: number): number => Math.min(maxTokens, tokens + tokensPerSuccess);
