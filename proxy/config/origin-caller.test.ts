// Calls of servers that a policy names by URL: in a cluster they go to no address that backends must not have.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { createGrpcClient } from '../grpc/client.ts'
import { HeaderList } from '../message/headers.ts'
import { exchangeOf, textOf } from '../policy/exchange.testing.ts'
import { backendGuard } from '../upstream/backend-guard.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import { DnsCache } from '../upstream/dns-cache.ts'
import { originCaller } from './origin-caller.ts'

let server: Server
let port = 0
let requests = 0

beforeAll(async () => {
  server = createServer((_request, response) => {
    requests++
    response.end('issuer')
  })
  port = await listening(server)
})

afterAll(() => closeServer(server))

async function call(allowed: readonly string[]): Promise<string> {
  const guard = backendGuard({ addresses: allowed, unixPaths: [] }, [])
  const dns = new DnsCache((_host, done) => done(undefined, ['127.0.0.1']), undefined, guard)
  const client = createUpstreamClient({ dns })
  const caller = originCaller({ host: 'issuer.test', port, isTls: false }, { client, grpc: createGrpcClient({ dns }) })
  const request = { method: 'GET', authority: 'issuer.test', path: '/', query: '', answerBytesMax: 100 }
  try {
    const response = await caller.http(exchangeOf(), { ...request, headers: new HeaderList(), body: undefined })
    return textOf(response.body) ?? ''
  } catch (error) {
    return String(error)
  } finally {
    client.close()
  }
}

it('an issuer whose name resolves to this host is not called', async () => {
  expect(await call([])).toContain('address 127.0.0.1 of issuer.test is not allowed')
  expect(requests).toBe(0)
})

it('an issuer is called at an address that an administrator allows', async () => {
  expect(await call(['127.0.0.1'])).toBe('issuer')
})
