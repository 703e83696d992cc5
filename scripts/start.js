// `npm start`: the command `recourse`, and without arguments its demo.
import './need-node.js';

if (process.argv.length === 2) process.argv.push('demo');
await import('../bin/recourse.js');
