/** A process that serves one workflow over standard input and output, until its client closes them. */
import { serveStdio } from '../../src/doors/mcp/stdio/serve-stream.ts';
import { openDoor } from './mcp-gateway.ts';
import { createTalk, workflows } from './mcp-workflows.ts';

const served = { ...workflows, waiting: createTalk().workflow };
const name = process.argv[2] as keyof typeof served;
let close = async (): Promise<void> => undefined;
const { door } = await openDoor({ after: (closing) => void (close = closing) }, { workflow: served[name] });
const stream = serveStdio(door);
process.on('SIGTERM', () => void stream.close());
await stream.closed;
await close();
