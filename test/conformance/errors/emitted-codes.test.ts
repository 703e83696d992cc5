/** Every code is emitted: a source file builds it, and a test that cites a requirement has seen it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { codeEmitters } from '../../../scripts/code-emitters.ts';
import { codes, type ErrorCode } from '../../../src/core/taxonomy.ts';
import { readCitations } from '../stated/read-citations.ts';
import { requirements } from '../requirements.ts';

const root = path.join(import.meta.dirname, '../../..');
const all = Object.keys(codes) as readonly ErrorCode[];

/** A code that is compared with, or a case of a switch, is not built there. */
const isBuilt = (code: string, text: string): boolean =>
  new RegExp(`(?<![!=]== |case |Extract<[^>]*|hasOwn\\([^)]*)'${code}'(?!:)`).test(text);

/** Seed 001's own codes are in its table; these are the requirements of the others. */
const shownBy: Readonly<Partial<Record<ErrorCode, string>>> = {
  ExecutionFailed: 'C3-error-1',
  KeyReused: 'C6-keys-6',
  InputTooLarge: 'C3-invalid-3',
  StaleEvidence: 'C6-evidence-3',
  UnknownSession: 'C1-session-4',
  InvalidTransition: 'C1-reachable-1',
  GuardError: 'C1-reachable-3',
  UnknownAction: 'C3-unknown-1',
  Fenced: 'C6-fence-2',
  ActionInFlight: 'C6-keys-3',
  StaleSequence: 'C1-sequence-2',
  RefusalLimit: 'C1-refusals-1',
  SessionStopped: 'C6-workflow-2',
  Busy: 'C3-busy-1',
  Unexpected: 'C3-internal-1',
  POLICY_DENY: 'C4-deny-1',
  POLICY_DEFER: 'C4-defer-1',
  RATE_EXCEEDED: 'C4-rate-1',
  BUDGET_EXCEEDED: 'C4-budget-1',
  BUDGET_WARNING: 'C4-budget-2',
  DAEMON_NOT_READY: 'C4-ready-1',
  COMPLETION_BLOCKED: 'C4-complete-1',
  EGRESS_DENIED: 'C4-egress-1',
  MODEL_DENIED: 'C1-model-1',
  CREDENTIAL_UNAVAILABLE: 'C4-credential-1',
  APPROVAL_EDITED: 'C6-approval-9',
  EARLIER_RESULT: 'C6-attach-10',
  RUNTIME_GAP: 'C4-gap-1',
};

describe('[C5-codes-2] a code', () => {
  test('[C5-codes-2] is built by each source file that its page names', () => {
    const idle = all.flatMap((code) =>
      codeEmitters[code].files
        .filter((file) => !isBuilt(code, readFileSync(path.join(root, file), 'utf8')))
        .map((file) => `${code} in ${file}`),
    );
    assert.deepEqual(idle, []);
  });

  test('[C5-codes-2] [S001-codes-1] was seen by a test: that of its row in the seed, or that of a requirement', () => {
    const citations = readCitations(root);
    const known = new Set(requirements.map(({ id }) => id));
    const table = readFileSync(path.join(import.meta.dirname, 'seed-table.test.ts'), 'utf8');
    const unseen = all.filter((code) => {
      const id = shownBy[code];
      if (id === undefined) return !new RegExp(`^    ${code}: `, 'm').test(table);
      const files = new Set(citations.filter(({ ids }) => ids.includes(id)).map(({ file }) => file));
      const texts = [...files].map((file) => readFileSync(path.join(root, file), 'utf8'));
      return !known.has(id) || !texts.some((text) => text.includes(code));
    });
    assert.deepEqual(unseen, []);
  });

  test('[C5-codes-2] that nothing builds is found', () => {
    assert.ok(isBuilt('Busy', "return refuse('Busy')") && isBuilt('Busy', "{ code: 'Busy' }"));
    for (const text of ["if (code === 'Busy')", "if (code !== 'Busy')", "case 'Busy':", "'Busy': 1", 'Busy'])
      assert.ok(!isBuilt('Busy', text), text);
  });
});
