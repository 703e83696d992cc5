/**
 * Estimates tokens from characters, without the tokenizer of any provider: once too many, where money is held for
 * them, and once too few, where a request is refused for them. Pure.
 */

/** Usual text has 3 to 4 characters to a token, dense code and tables 2 and more. */
const charsPerTokenAtLeast = 2;
/** Long words and indentation reach 5 to 6. */
const charsPerTokenAtMost = 8;
/** What a provider adds to what was sent: roles, separators, its own instructions for tools. */
const addedTokens = 500;

/** No fewer than it will be, for usual text. */
export const mostTokens = (chars: number): number => Math.ceil(chars / charsPerTokenAtLeast) + addedTokens;

/** No more than it will be. */
export const fewestTokens = (chars: number): number => Math.floor(chars / charsPerTokenAtMost);
