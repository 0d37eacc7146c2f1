// Two workers of one process, in one thread.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { until } from '#test/wait.ts'
import { LiveSessions } from './live-sessions.ts'
import { sessionAt } from './reopened.testing.ts'

const SEALED = sessionAt('sealed')

function opening(name: string): Parameters<LiveSessions['reopen']>[2] {
  return { gone: undefined, open: () => Promise.resolve({ session: sessionAt(name), lists: [] }) }
}

function used(worker: LiveSessions): string | undefined {
  return worker.current('s', 'a')?.session.serverSession
}

async function endedBy(worker: LiveSessions): Promise<ReadonlySet<string | undefined>> {
  const ended = new Set<string | undefined>()
  await worker.endAll('s', 'a', SEALED, async ({ serverSession }) => void ended.add(serverSession))
  return ended
}

describe('sessions at a server that workers opened again', () => {
  it('are one for both workers if both try', async () => {
    const channel = randomUUID()
    const [one, two] = [new LiveSessions(channel), new LiveSessions(channel)]
    await Promise.all([one.reopen('s', 'a', opening('of one')), two.reopen('s', 'a', opening('of two'))])
    await until('both use the same session', () => used(one) === used(two))
    expect([...(await endedBy(one))]).toEqual(expect.arrayContaining([used(one), 'sealed']))
  })

  it('are opened by the other worker if the first one fails', async () => {
    const channel = randomUUID()
    const [one, two] = [new LiveSessions(channel), new LiveSessions(channel)]
    const attempts: Promise<unknown>[] = []
    const failed = one.reopen('s', 'a', {
      gone: undefined,
      open() {
        attempts.push(two.reopen('s', 'a', opening('of two')))
        return Promise.reject(new Error('is down'))
      },
    })
    await expect(failed).rejects.toThrow('is down')
    await until('both use the session of the other worker', () => used(one) === 'of two', 5000)
    await Promise.all(attempts)
  })

  it('are one for both workers, also if a worker has missed the message of the other, and all are ended', async () => {
    const channel = randomUUID()
    const one = new LiveSessions(channel)
    for (let round = 0; round < 4; round++) {
      await one.reopen('s', 'a', opening(`one ${round}`))
      const late = new LiveSessions(channel)
      await late.reopen('s', 'a', opening(`late ${round}`))
      await until('both use the same session', () => used(one) === used(late))
    }
    const all = Array.from({ length: 4 }, (_, round) => [`late ${round}`, `one ${round}`]).flat()
    expect(await endedBy(one)).toEqual(new Set([...all, 'sealed']))
  })

  it('are ended if another worker opened one while the client ended the session', async () => {
    const channel = randomUUID()
    const [one, two] = [new LiveSessions(channel), new LiveSessions(channel)]
    const late: (string | undefined)[] = []
    await two.reopen('s', 'a', {
      gone: 'sealed',
      async open() {
        one.end('s')
        await one.endAll('s', 'a', SEALED, async ({ serverSession }) => void late.push(serverSession))
        return { session: sessionAt('late'), lists: [] }
      },
    })
    await until('the late session is ended', () => late.length === 2)
    expect(late).toEqual(['sealed', 'late'])
  })

  it('are followed by streams', async () => {
    const channel = randomUUID()
    const [one, two] = [new LiveSessions(channel), new LiveSessions(channel)]
    expect(used(one)).toBe(undefined)
    let changes = 0
    const unwatch = one.watch('s', 'a', () => void changes++)
    await two.reopen('s', 'a', opening('first'))
    await until('the other worker has it', () => used(one) === 'first')
    unwatch()
    await two.reopen('s', 'a', opening('second'))
    await until('the other worker has it', () => used(one) === 'second')
    expect(changes).toBe(1)
  })
})
