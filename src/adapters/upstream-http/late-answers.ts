/**
 * Waits for the answers to writes whose time was over. Their number and the time are limited; beyond that the
 * connection is closed. What is lost then says nothing new, and nobody is told.
 */
import type { HttpLimits } from './http-limits.ts';
import type { HttpEnd, Sending } from '../shared/http/send-request.ts';

export interface LateAnswers {
  listen(exchange: Sending, hear: (end: HttpEnd) => Promise<void>): void;
  close(): void;
}

export function createLateAnswers({ lateAnswerMs, maxLateAnswers }: HttpLimits): LateAnswers {
  const open = new Set<Sending>();
  return {
    listen(exchange, hear) {
      open.add(exchange);
      const timer = setTimeout(() => exchange.stop(), lateAnswerMs);
      timer.unref();
      const [oldest] = open.size > maxLateAnswers ? open : [];
      oldest?.stop();
      void exchange.end.then(async (end) => {
        open.delete(exchange);
        clearTimeout(timer);
        if (end.kind === 'answered') await hear(end);
      });
    },
    close: () => {
      for (const exchange of open) exchange.stop();
    },
  };
}
