// Sessions outlive the replicas of the gateway that serve them. `make mcp-replicas` does the same with 1,000 sessions.
// @module-tag full
import { expect, it } from 'vitest'
import { killEach } from './replicas.ts'

const SESSIONS = 30

it('sessions need at most one retry when each of three replicas is killed in turn', { timeout: 300_000 }, async () => {
  const { failed, retried, reopened, heard } = await killEach(SESSIONS)
  expect(failed).toEqual([])
  expect(retried).toBeGreaterThan(0)
  // The stream of each session was at one of them.
  expect(reopened).toBeGreaterThanOrEqual(SESSIONS)
  expect(heard).toBe(SESSIONS)
})
