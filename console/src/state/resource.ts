/** Something that a page loads: loading, there, or a problem; it can be loaded again, and keeps what it had. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Answer, Problem } from './api.ts';

export interface Loaded<Value> {
  /** Null before the first answer. */
  readonly value: Value | null;
  /** Of the last request; null if it was answered. */
  readonly problem: Problem | null;
  readonly loading: boolean;
}

export interface Resource<Value> {
  readonly state: Signal<Loaded<Value>>;
  /** Asks again; what is there stays until the answer. */
  load(): Promise<void>;
  /** Puts a value there that is known already. */
  put(value: Value): void;
  stop(): void;
}

export function createResource<Value>(request: (signal: AbortSignal) => Promise<Answer<Value>>): Resource<Value> {
  const state = signal<Loaded<Value>>({ value: null, problem: null, loading: true });
  let last: AbortController | null = null;
  return {
    state,
    async load() {
      last?.abort();
      const mine = new AbortController();
      last = mine;
      state.value = { ...state.peek(), loading: true };
      const answer = await request(mine.signal);
      // A later request has taken its place.
      if (mine.signal.aborted) return;
      state.value = answer.ok
        ? { value: answer.value, problem: null, loading: false }
        : { ...state.peek(), problem: answer.problem, loading: false };
    },
    put(value) {
      state.value = { value, problem: null, loading: false };
    },
    stop: () => last?.abort(),
  };
}

/** A resource that lives as long as the component; loaded anew when `keys` change, and every `everyMs` if given. */
export function useResource<Value>(
  request: (signal: AbortSignal) => Promise<Answer<Value>>,
  keys: readonly unknown[],
  everyMs?: number,
): Resource<Value> {
  const resource = useMemo(() => createResource(request), keys);
  useEffect(() => {
    void resource.load();
    const timer = everyMs === undefined ? undefined : setInterval(() => void resource.load(), everyMs);
    return () => {
      clearInterval(timer);
      resource.stop();
    };
  }, [resource]);
  return resource;
}
