import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeNotice } from './print-notices.ts';

test('a notice is a line whose names are those of the wire', () => {
  const cases = [
    [{ kind: 'store_recovered' }, 'recourse: store_recovered {}\n'],
    [{ kind: 'recovered', calls: 2, inDoubt: 1 }, 'recourse: recovered {"calls":2,"in_doubt":1}\n'],
    [
      { kind: 'key_masked', callId: 'call_1', agent: 'bot', tool: 'files/read', keyIds: ['rk_1'], more: 0 },
      'recourse: key_masked {"call_id":"call_1","agent":"bot","tool":"files/read","key_ids":["rk_1"],"more":0}\n',
    ],
  ] as const;
  for (const [notice, line] of cases) assert.equal(writeNotice(notice), line);
});
