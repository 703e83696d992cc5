/** Joins texts that come in many parts, without copying what came before each time. */

/** A text that grows. */
export class GrowingText {
  #parts: string[] = [];

  add(part: string): void {
    this.#parts.push(part);
  }

  get text(): string {
    if (this.#parts.length > 1) this.#parts = [this.#parts.join('')];
    return this.#parts[0] ?? '';
  }
}
