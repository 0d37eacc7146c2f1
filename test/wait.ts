// Waits for a condition with a deadline; all tests wait with this function.
import { setTimeout as delay } from 'node:timers/promises'

const DEADLINE_MS = 30_000

export async function until(what: string, isTrue: () => boolean | Promise<boolean>, ms = DEADLINE_MS): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`)
    await delay(2)
  }
}
