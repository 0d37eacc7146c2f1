import { describe, expect, it } from 'vitest'
import { HeaderList } from '../../message/headers.ts'
import { exchangeOf } from '../../policy/exchange.testing.ts'
import { WorkerTokenStore } from '../../credentials/token-store.ts'
import { tokenFor } from './sent-token.ts'

function start() {
  const tokens = new WorkerTokenStore()
  let fetches = 0
  const source = {
    key: 'k',
    name: { kind: 'cloudB', owner: 'ns/policy' } as const,
    fetch: () => Promise.resolve({ value: ++fetches, expiresMs: Date.now() + 3_600_000 }),
  }
  const exchange = exchangeOf()
  return { exchange, take: async () => (await tokenFor(exchange, tokens, { source })).value }
}

describe('a token that was sent', () => {
  it.each([
    ['status 401', 401, []],
    ['UNAUTHENTICATED of gRPC', 200, [['grpc-status', '16']]],
  ] as const)('is replaced after %s', async (_, status, fields) => {
    const { exchange, take } = start()
    expect(await take()).toBe(1)
    const headers = HeaderList.of(fields.map(([name, value]) => [name, value]))
    expect(exchange.credential?.renew({ status, headers })).toBe(true)
    expect(await take()).toBe(2)
  })

  it.each([
    ['status 403', 403, []],
    ['PERMISSION_DENIED of gRPC', 200, [['grpc-status', '7']]],
    ['status 200', 200, []],
  ] as const)('is kept after %s', async (_, status, fields) => {
    const { exchange, take } = start()
    await take()
    const headers = HeaderList.of(fields.map(([name, value]) => [name, value]))
    expect(exchange.credential?.renew({ status, headers })).toBe(false)
    expect(await take()).toBe(1)
  })
})
