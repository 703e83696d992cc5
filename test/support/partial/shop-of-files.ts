/** A shop that several processes see: the price is in a file, and what is bought are lines in another. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultTerms } from '../../../src/core/approval/approval.ts';
import { anAgent } from '../a-policy.ts';
import { aTool } from '../tools.ts';
import { appendLine } from '../world.ts';

export const setPrice = (folder: string, cents: number): void =>
  writeFileSync(path.join(folder, 'price'), String(cents));

export const hangReads = (folder: string): void => writeFileSync(path.join(folder, 'hang'), '');

export function bought(folder: string): number {
  const log = path.join(folder, 'bought');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
}

/** `buy` relies on `price`. */
export function shopTools(folder: string, onHang: () => void) {
  const price = aTool(
    'price',
    () => {
      if (existsSync(path.join(folder, 'hang'))) {
        onHang();
        return new Promise(() => undefined);
      }
      return { cents: Number(readFileSync(path.join(folder, 'price'), 'utf8')) };
    },
    { effect: 'pure', timeout_seconds: 600 },
  );
  const buy = aTool(
    'buy',
    () => {
      appendLine(path.join(folder, 'bought'), 'one');
      return 'bought';
    },
    { evidence: [{ tool: 'price', args: () => ({}) }] },
  );
  return [price, buy];
}

export function buyersPolicy() {
  const written = anAgent('local', [
    ['permit', 'price'],
    ['defer', 'buy'],
  ]);
  const rules = written.rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: defaultTerms } : rule));
  return { ...written, rules };
}
