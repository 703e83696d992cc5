/** What does a client hear that sent something which is no HTTP? A problem like any other, and the end of the connection. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { doorProblem, type DoorProblem } from '../../core/http/door-problems.ts';

/** `mayAnswer` false: an answer would be taken for that of a request which is under way. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, mayAnswer: boolean): void {
  if (error.code === 'ECONNRESET' || !socket.writable || !mayAnswer) return void socket.destroy();
  const problem = problemFor(error.code);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function problemFor(code: string | undefined): DoorProblem {
  if (code === 'HPE_HEADER_OVERFLOW') return doorProblem('HeadersTooLarge', 'send fewer or shorter headers');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return doorProblem('RequestTimeout', 'send the whole request sooner');
  return doorProblem('MalformedRequest', 'this cannot be read as HTTP');
}
