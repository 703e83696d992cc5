import assert from 'node:assert/strict';
import test from 'node:test';
import { offerInWords } from './door-names.ts';

const write = (own: string) => `door__${own}`;

const cases = [
  {
    error: 'invalid_transition',
    message: "action 'open' is not reachable from current state. Valid actions now: ['shut', 'knock'].",
    told: "action 'open' is not reachable from current state. Valid actions now: ['door__shut', 'door__knock'].",
  },
  {
    error: 'invalid_transition',
    message: "action 'open' is not reachable from current state. Valid actions now: [].",
    told: "action 'open' is not reachable from current state. Valid actions now: [].",
  },
  {
    error: 'unknown_action',
    message: "action 'opne' is not known. Did you mean 'open'?",
    told: "action 'opne' is not known. Did you mean 'door__open'?",
  },
  {
    error: 'validation_failed',
    message:
      "inputs of 'open' were refused. Refused 3 times in a row. Do not send the same inputs again: change the inputs of 'open', or call another of valid_next_actions, such as 'shut'.",
    told: "inputs of 'open' were refused. Refused 3 times in a row. Do not send the same inputs again: change the inputs of 'door__open', or call another of valid_next_actions, such as 'door__shut'.",
  },
  {
    error: 'validation_failed',
    message:
      "inputs of 'open' were refused. Refused 3 times in a row. Do not send the same inputs again: change the inputs of 'open'.",
    told: "inputs of 'open' were refused. Refused 3 times in a row. Do not send the same inputs again: change the inputs of 'door__open'.",
  },
  {
    error: 'action_error',
    message: "action 'open' failed: Did you mean 'city'? Valid actions now: ['a'].",
    told: "action 'open' failed: Did you mean 'city'? Valid actions now: ['a'].",
  },
] as const;

for (const { error, message, told } of cases)
  test(`what ${error} offers is in the names of the door: ${told}`, () => {
    assert.equal(offerInWords({ error, message }, write), told);
  });
