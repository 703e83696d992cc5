/**
 * Whether a failed request was certainly never sent: only if the platform says, by a code, that it never connected. A
 * browser does not say. Does not read message texts.
 */
const neverConnected: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  // Bun's word for it.
  'ConnectionRefused',
];

/** Failures are wrapped: the one that knows is the cause of the one that was thrown. */
const maxCauses = 4;

export function wasNeverSent(failure: unknown): boolean {
  let each = failure;
  for (let depth = 0; depth < maxCauses && typeof each === 'object' && each !== null; depth++) {
    const { code, syscall, errors, cause } = each as Record<string, unknown>;
    if (neverConnected.includes(code) || syscall === 'connect' || syscall === 'getaddrinfo') return true;
    // Several addresses were tried: each of them must have failed to connect.
    if (Array.isArray(errors) && errors.length > 0) return errors.every(wasNeverSent);
    each = cause;
  }
  return false;
}
