/**
 * What must every store do? One contract, called by each store with a way to make a home for its data:
 * SQLite on a real file, PostgreSQL, and the model in memory that the simulation uses.
 */
import { describe } from 'node:test';

import { provesAccounts } from './store-accounts.ts';
import { provesApprovalReads } from './store-approval-reads.ts';
import { provesApprovals } from './store-approvals.ts';
import { provesCalls, provesLostClaims, provesStops } from './store-calls.ts';
import { provesCompletion, provesTurns } from './store-completion.ts';
import { provesDoubts } from './recovery/store-doubts.ts';
import { provesReversals, provesRollbacks } from './reversals/store-reversals.ts';
import type { StoreHome } from './store-fixtures.ts';
import { provesJournal } from './store-journal.ts';
import { provesKeys } from './store-keys.ts';
import { provesDecisions, provesReads } from './store-reads.ts';
import { provesReplies } from './store-replies.ts';
import { provesSessions } from './store-sessions.ts';
import { provesTickets } from './recovery/store-tickets.ts';
import { provesWorkflows } from './store-workflows.ts';

export type { StoreHome } from './store-fixtures.ts';

export function provesStore(name: string, create: () => Promise<StoreHome>): void {
  describe(`${name} keeps the contract of stores`, () => {
    describe('calls', () => {
      provesCalls(create);
      provesStops(create);
      provesLostClaims(create);
    });
    describe('keys', () => provesKeys(create));
    describe('approvals', () => {
      provesApprovals(create);
      provesApprovalReads(create);
    });
    describe('tickets', () => provesTickets(create));
    describe('reversals', () => provesReversals(create));
    describe('rollbacks', () => provesRollbacks(create));
    describe('calls in doubt', () => provesDoubts(create));
    describe('completion', () => provesCompletion(create));
    describe('turns', () => provesTurns(create));
    describe('reads', () => provesReads(create));
    describe('decisions', () => provesDecisions(create));
  });
  provesWriting(name, create);
}

/** What depends on who wrote, and on what they remember of the file: for each way of writing that a store has. */
function provesWriting(name: string, create: () => Promise<StoreHome>): void {
  describe(`${name} keeps the contract of stores, whoever writes`, () => {
    describe('sessions', () => provesSessions(create));
    describe('workflow sessions', () => provesWorkflows(create));
    describe('accounts', () => provesAccounts(create));
    describe('replies', () => provesReplies(create));
    describe('journal', () => provesJournal(create));
  });
}
