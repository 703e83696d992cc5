// A page with nothing but the list of the console, and a hundred thousand rows in it. Built by build-table.ts.
import { h, render } from 'preact';
import { LiveHead, LiveRow } from '../../console/src/pages/live/live-row.tsx';
import { VirtualList } from '../../console/src/parts/virtual-list.tsx';
import '../../console/src/style/tokens.css';
import '../../console/src/style/base.css';
import '../../console/src/style/layout.css';
import '../../console/src/style/parts.css';
import '../../console/src/pages/live/live.css';

const count = 100_000;
const states = ['SUCCEEDED', 'DENIED', 'FAILED', 'IN_DOUBT', 'AWAITING_APPROVAL'];
const rows = Array.from({ length: count }, (_, at) => ({
  id: `call_${at}`,
  agent: at % 2 === 0 ? 'support' : 'warehouse',
  tool: at % 3 === 0 ? 'shop/get_order' : 'payments/refund',
  session: `ses_${at % 100}`,
  state: states[at % states.length],
  code: at % 5 === 1 ? 'POLICY_DENY' : null,
  createdMs: 1_790_000_000_000 + at * 10,
  updatedMs: 1_790_000_000_000 + at * 10 + (at % 500),
}));

const table = h(VirtualList, {
  rows,
  keyOf: ({ id }) => id,
  rowHeight: 36,
  label: 'Calls',
  head: h(LiveHead),
  children: (call) => h(LiveRow, { call }),
});
render(h('main', { id: 'main' }, h('h1', null, 'Table'), h('div', { class: 'live' }, table)), document.body);
