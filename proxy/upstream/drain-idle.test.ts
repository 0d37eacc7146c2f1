import { describe, expect, it } from 'vitest'
import { ofWorker, CONNECTION_DEFAULTS } from './connection-defaults.ts'
import { drainIdle } from './drain-idle.ts'

/** The sessions that are closed at 100 ms, by their position. */
function drained(idleSince: readonly (number | undefined)[], idlePerTargetMax: number, idleTimeoutMs: number) {
  const closed: number[] = []
  const sessions = idleSince.map((idleSinceMs, at) => ({ idleSinceMs, drain: () => void closed.push(at) }))
  drainIdle(sessions, { idlePerTargetMax, idleTimeoutMs }, 100)
  return closed
}

describe('drainIdle', () => {
  it.each([
    ['those that were idle for the time', [0, 1, 2], 9, 99, [0, 1]],
    ['none that is in use', [undefined, 0, undefined], 0, 1000, [1]],
    ['those beyond the number', [50, undefined, 51, 52], 2, 1000, [3]],
    ['all, if none is kept', [50, 51], 0, 1000, [0, 1]],
  ] as const)('closes %s', (_what, idleSince, max, timeoutMs, closed) => {
    expect(drained(idleSince, max, timeoutMs)).toEqual(closed)
  })
})

describe('ofWorker', () => {
  it.each([
    [0, 4, [0, 0, 0, 0]],
    [1, 2, [1, 0]],
    [7, 3, [3, 2, 2]],
    [8, 1, [8]],
  ])('%i connections for %i workers', (idleMax, workers, shares) => {
    const ofEach = Array.from({ length: workers }, (_, workerId) =>
      ofWorker({ ...CONNECTION_DEFAULTS, idleMax }, { workerId, workers }),
    )
    expect(ofEach.map((share) => share.idleMax)).toEqual(shares)
  })

  it('keeps an unset number', () => {
    expect(ofWorker(CONNECTION_DEFAULTS, { workerId: 0, workers: 4 })).toBe(CONNECTION_DEFAULTS)
  })
})
