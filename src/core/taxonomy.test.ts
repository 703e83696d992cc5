import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CallStart,
  type CallState,
  callStates,
  classes,
  codes,
  type Entry,
  errors,
  legalTransitions,
  noticeCodes,
  resolutions,
  taxonomy,
} from './taxonomy.ts';
import { codesOfGovernance } from './taxonomy/codes-of-governance.ts';
import { codesOfSessions } from './taxonomy/codes-of-sessions.ts';
import { codesOfSetup } from './taxonomy/codes-of-setup.ts';
import { codesOfTools } from './taxonomy/codes-of-tools.ts';

const lists = Object.entries(taxonomy) as readonly (readonly [string, Readonly<Record<string, Entry>>])[];

describe('taxonomy', () => {
  for (const [list, entries] of lists) {
    test(`every entry of ${list} says in a sentence what it means and what to do`, () => {
      for (const [name, entry] of Object.entries(entries)) {
        assert.match(entry.title, /^[A-Z].*[^.]$/, `${list} ${name} title`);
        for (const text of [entry.meaning, entry.agent, entry.operator]) {
          assert.match(text, /^[A-Z][^|\n]*\.$/, `${list} ${name}`);
        }
      }
    });
  }

  test('every class has a code, and every code a class that exists', () => {
    const used = Object.values(codes).map((entry) => entry.class);
    assert.deepEqual([...new Set(used)].toSorted(), Object.keys(classes).toSorted());
  });

  test('no code is listed in two files', () => {
    const files = [codesOfSetup, codesOfTools, codesOfSessions, codesOfGovernance];
    const listed = files.flatMap((file) => Object.keys(file));
    assert.deepEqual(Object.keys(codes), listed);
  });

  test('every code of an error exists, once', () => {
    for (const [name, entry] of Object.entries(errors)) {
      for (const code of entry.codes) assert.ok(code in codes, `${name} ${code}`);
      assert.equal(new Set(entry.codes).size, entry.codes.length, name);
    }
  });

  test('every code is carried by some error, or is a notice', () => {
    const carried: readonly string[] = [...Object.values(errors).flatMap((entry) => [...entry.codes]), ...noticeCodes];
    for (const code of Object.keys(codes)) assert.ok(carried.includes(code), code);
  });

  test('exactly the notices have no status of their own', () => {
    const without = Object.entries(codes).filter(([, entry]) => entry.http === null);
    assert.deepEqual(without.map(([code]) => code).toSorted(), [...noticeCodes].toSorted());
  });

  test('every code has advice, of types that exist', () => {
    for (const [code, entry] of Object.entries(codes)) {
      assert.ok(entry.resolutions.length > 0, code);
      for (const type of entry.resolutions) assert.ok(type in resolutions, `${code} ${type}`);
    }
  });

  test('what advises to ask again later has a status that says so, or says when', () => {
    for (const [code, entry] of Object.entries(codes)) {
      const types: readonly string[] = entry.resolutions;
      const says = types.includes('retry_after') || types.includes('budget_reset');
      if (entry.http === 429 || entry.http === 503) assert.ok(says, code);
    }
  });

  test('a state is terminal exactly if nothing follows it', () => {
    for (const [state, entry] of Object.entries(callStates)) {
      assert.equal(legalTransitions[state as CallState].length === 0, entry.terminal, state);
    }
  });

  test('every state can be reached from the start', () => {
    const reached = new Set<CallStart | CallState>(['(none)']);
    for (const state of reached) for (const next of legalTransitions[state]) reached.add(next);
    assert.deepEqual([...reached].toSorted(), ['(none)', ...Object.keys(callStates)].toSorted());
  });
});
