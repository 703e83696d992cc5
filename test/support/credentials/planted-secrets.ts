/** Secrets that a test plants, and the search for them in everything that was written. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** As they are, as base64, as base64 within a login, as hexadecimal and in a URL. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // What a login makes of it, without the characters that it shares with its neighbours.
  const inLogin = ['', 'x', 'xx'].map((before) => Buffer.from(`${before}${secret}`).toString('base64').slice(4, -4));
  const texts = [secret, bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex'), ...inLogin];
  return [...texts, encodeURIComponent(secret), new URLSearchParams({ '': secret }).toString().slice(1)];
}

/** By what it is called. */
export type Written = readonly (readonly [string, Buffer | string])[];

/** Every file below these folders and files. */
export function filesBelow(places: readonly string[]): Written {
  return places.flatMap((place): Written => {
    if (!existsSync(place)) return [];
    if (statSync(place).isDirectory()) return filesBelow(readdirSync(place).map((name) => path.join(place, name)));
    return statSync(place).isFile() ? [[place, readFileSync(place)]] : [];
  });
}

export function assertNowhere(secrets: readonly string[], written: Written): void {
  const found = written.flatMap(([name, content]) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content);
    return secrets.flatMap((secret) =>
      formsOf(secret)
        .filter((form) => bytes.includes(form))
        .map((form) => `${form} in ${name}`),
    );
  });
  assert.deepEqual(found, []);
}
