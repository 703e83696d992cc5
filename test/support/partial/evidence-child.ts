/**
 * A process whose agent buys on a price, to be killed. Asks when it is told to, and says what came of it; while the file
 * `hang` is there, reading the price says so and never ends.
 */
import { openGateway } from '../../../src/main.ts';
import { policyOf } from '../open-approvals.ts';
import { buyersPolicy, shopTools } from './shop-of-files.ts';

const [file = '', folder = ''] = process.argv.slice(2);

const tools = shopTools(folder, () => process.send?.({ kind: 'reading' }));
const policy = policyOf({ agents: [buyersPolicy()] });
const { gateway } = await openGateway({ tools, file, policy: () => policy, onNotice: () => undefined }, {});
process.send?.({ kind: 'opened', role: gateway.role });
process.on('message', (request) => {
  void gateway.handle(request).then((reply) => process.send?.({ kind: 'replied', reply }));
});
