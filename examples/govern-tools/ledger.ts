/** The bank: a file with a line for every payment that was really made. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export function pay(file: string, kind: 'refund' | 'payout', amount: number): { paid: number } {
  appendFileSync(file, `${kind} ${amount}\n`);
  return { paid: amount };
}

export const paymentsIn = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
