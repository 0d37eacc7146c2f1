import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { AdminTransport } from '../portforward/admin-client.ts'
import { askAll, queryOf } from './log.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

describe('queryOf', () => {
  it.each([
    [{ set: [] }, { path: '/logging' }],
    [{ level: 'debug', set: [] }, { path: '/logging?level=debug' }],
    [
      { set: ['translator=debug,status=warn', 'leader=info'] },
      { path: '/logging?translator=debug&status=warn&leader=info' },
    ],
    [{ level: 'loud', set: [] }, { problem: 'loud: the level must be one of error, warn, info, debug, trace' }],
    [{ level: 'info', set: ['a=info'] }, { problem: '--level and --set cannot be used together' }],
    [{ set: ['translator'] }, { problem: '--set translator: must be component=level' }],
    [{ set: ['level=info'] }, { problem: '--set level=info: must be component=level' }],
  ])('%o', (flags, expected) => {
    expect(queryOf(flags)).toEqual(expected)
  })
})

describe('askAll', () => {
  async function replica(label: string, status: number): Promise<AdminTransport> {
    const server = createServer((request, response) => {
      response.statusCode = status
      response.end(`${request.method} ${request.url}\n`)
    })
    servers.push(server)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    return { label, open: async () => connect((server.address() as AddressInfo).port, '127.0.0.1') }
  }

  it('asks every replica, and continues after a failure', async () => {
    const dead: AdminTransport = { label: 'b', open: () => Promise.reject(new Error('gone')) }
    const transports = [await replica('a', 200), dead, await replica('c', 400)]
    const [printed, warned]: [string[], string[]] = [[], []]
    const code = await askAll(transports, '/logging', {
      print: (line) => printed.push(line),
      warn: (line) => warned.push(line),
    })
    expect(code).toBe(1)
    expect(printed).toEqual(['a: POST /logging'])
    expect(warned).toEqual(['b: cannot reach the admin server b: gone', 'c: POST /logging'])
    expect(await askAll([await replica('a', 200)], '/logging', { print: () => undefined, warn: () => undefined })).toBe(
      0,
    )
  })
})
