/**
 * A program of its own, inside the network namespace of a child: listens on loopback, passes every connection on to the
 * unix socket of the egress proxy, and starts the child with its own standard streams. Ends as the child ends. Checks
 * nothing: the proxy does.
 */
import { spawn } from 'node:child_process';
import net from 'node:net';
import { constants } from 'node:os';

const [socketPath = '', port = '', command = '', ...args] = process.argv.slice(2);
const maxConnections = 512;
const notStarted = 127;

const server = net.createServer((one) => {
  const other = net.connect(socketPath);
  one.pipe(other);
  other.pipe(one);
  for (const [here, there] of [
    [one, other],
    [other, one],
  ] as const) {
    here.on('error', () => there.destroy());
    here.once('close', () => there.destroy());
  }
});
server.maxConnections = maxConnections;
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(command, args, { stdio: 'inherit' });
  child.once('error', (error) => {
    process.stderr.write(`the command '${command}' cannot be started: ${(error as NodeJS.ErrnoException).code}\n`);
    process.exit(notStarted);
  });
  // As a shell tells it.
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
});
