/**
 * Reports rejected promises that nobody handles, instead of letting Node end the process. Bodies of workflows leave
 * such promises behind. An uncaught exception stays fatal.
 */
import { messageOf, nameOf } from '../../adapters/upstream-function/describe-throw.ts';

const maxMessageChars = 500;
/** Thousands of rejections must not fill the log. */
const maxToldEachMinute = 20;
const minuteMs = 60_000;

/** Stays installed until the process ends: a body may leave a rejection at the last moment. */
export function reportRejections(onTrouble: (problem: string) => void): void {
  let beganMs = Number.NEGATIVE_INFINITY;
  let told = 0;
  let untold = 0;
  process.on('unhandledRejection', (reason: unknown) => {
    const nowMs = performance.now();
    if (nowMs - beganMs >= minuteMs) {
      if (untold > 0) onTrouble(`${untold} more promises were rejected that nobody waited for`);
      beganMs = nowMs;
      told = 0;
      untold = 0;
    }
    if (told >= maxToldEachMinute) return void (untold += 1);
    told += 1;
    onTrouble(
      `code of a workflow or tool left a promise that was rejected and that nobody waited for (${described(reason)}): await or catch it there; serving goes on`,
    );
  });
}

/** The reason may be anything, even an object that throws when it is read. */
function described(reason: unknown): string {
  const [message = ''] = messageOf(reason).split('\n');
  const name = nameOf(reason);
  return (name === 'NonError' ? message : `${name}: ${message}`).slice(0, maxMessageChars).toWellFormed();
}
