/**
 * What happens next in a simulated world: the earliest event, and of two at the same time the one that was put in
 * first.
 */

export interface Queued {
  readonly timeMs: number;
  readonly order: number;
}

export interface EventHeap<Event extends Queued> {
  push(event: Event): void;
  pop(): Event | undefined;
}

const isBefore = (a: Queued, b: Queued) => a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order);

export function createEventHeap<Event extends Queued>(): EventHeap<Event> {
  const heap: Event[] = [];
  const at = (index: number) => heap[index] as Event;
  return {
    push(event) {
      let hole = heap.length;
      heap.push(event);
      while (hole > 0) {
        const parent = (hole - 1) >> 1;
        if (!isBefore(event, at(parent))) break;
        heap[hole] = at(parent);
        hole = parent;
      }
      heap[hole] = event;
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (first === undefined || last === undefined || heap.length === 0) return first;
      let hole = 0;
      for (;;) {
        let child = 2 * hole + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && isBefore(at(child + 1), at(child))) child += 1;
        if (!isBefore(at(child), last)) break;
        heap[hole] = at(child);
        hole = child;
      }
      heap[hole] = last;
      return first;
    },
  };
}
