/** Texts that want to be more than text, and what a page must show of them. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

export interface Hostile {
  readonly name: string;
  readonly text: string;
  /** A part of what is to be read on the page. */
  readonly shown: string;
}

export const hostileTexts: readonly Hostile[] = [
  {
    name: 'HTML',
    text: '<img src=x onerror="owned=1"><script>owned=1</script><b id=owned>bold</b>',
    shown: '<img src=x onerror=',
  },
  { name: 'a bidirectional override', text: 'pay \u202Etnuoma lla\u202C now', shown: 'tnuoma lla' },
  { name: 'zero-width characters', text: 're\u200Bfu\u2060nd\uFEFF', shown: 'fu' },
  { name: 'line ends', text: 'refund\nApproved by ann\r\n\u2028Effect: none', shown: 'Approved by ann' },
  { name: 'control characters', text: 'a\u0007b\u001B[31mred', shown: '[31mred' },
  { name: 'an address of a script', text: 'javascript:owned=1', shown: 'javascript:owned=1' },
  { name: 'a template', text: '{{constructor.constructor("owned=1")()}}${owned=1}', shown: '{{constructor' },
];

/** Long enough that no page shows it whole. */
export const longText = `begins ${'x'.repeat(6_000)} ends`;

/** Characters that nobody sees, or that reorder what is seen. None may be on the page as it came. */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Nothing of what came from others has become a part of the page. */
export async function isInert(page: Page): Promise<void> {
  assert.equal(await page.evaluate('typeof owned'), 'undefined', 'a script of somebody else ran');
  const made = await page.evaluate(
    'document.querySelectorAll("#owned, main script, main iframe, main img[onerror], main [href^=\'javascript:\'], main [style*=url]").length',
  );
  assert.equal(made, 0, 'an element of somebody else is on the page');
  const text = String(await page.evaluate('document.body.innerText'));
  const found = unseen.exec(text);
  assert.equal(found, null, `U+${found?.[0].codePointAt(0)?.toString(16)} is on the page as it came`);
  const titles = String(
    await page.evaluate(
      'document.title + [...document.querySelectorAll("[title],[aria-label]")].map((e) => e.title + e.ariaLabel).join()',
    ),
  );
  assert.doesNotMatch(titles, unseen, 'a title shows it as it came');
}
