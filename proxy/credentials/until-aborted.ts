// Waits for work until a signal aborts, whether the work can be aborted or not.

/**
 * Rejects with `failure()` at the abort. It wins over a rejection of the work that the abort causes: its listener is
 * added before the work starts.
 */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>, failure: () => unknown): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(failure())
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
