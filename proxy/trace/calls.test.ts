// Calls in a trace other than to the backend: services of policies, and mirrors, each in a scope of its own.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limiter } from '#test/conformance/suite/limiter.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy, type TestRoute } from '#proxy/main.testing.ts'
import { grpcServer, type GrpcTestServer } from '../grpc/server.testing.ts'
import type { TraceEvent } from './trace-writer.ts'
import { outline, watchTrace } from './watcher.testing.ts'

let upstream: Server
let rateLimiter: GrpcTestServer
let gateway: TestProxy

beforeAll(async () => {
  upstream = createServer((_, response) => response.end('ok'))
  const port = await listening(upstream)
  rateLimiter = await grpcServer([limiter()])
  const to = (own: number): TestRoute['backend'] => ({ static: { host: '127.0.0.1', port: own } })
  const descriptors = [{ unit: 'Requests' as const, entries: [{ name: 'key', expression: '"x"' }] }]
  gateway = await testProxy({
    routes: [
      {
        name: 'all',
        prefix: '/all',
        backend: to(port),
        inline: {
          extAuth: { service: { backend: 'ns/authz' }, failureMode: 'FailClosed', http: {} },
          rateLimitGlobal: { service: { backend: 'ns/limiter' }, failureMode: 'FailClosed', domain: 'd', descriptors },
          requestMirror: [{ ref: { backend: 'ns/mirror' }, numerator: 1, denominator: 1 }],
        },
      },
      {
        name: 'away',
        prefix: '/away',
        backend: to(port),
        inline: { extAuth: { service: { backend: 'ns/dead' }, failureMode: 'FailOpen', http: {} } },
      },
      { name: 'authz', prefix: '/authz', backend: to(port) },
      { name: 'mirror', prefix: '/mirror', backend: to(port) },
      { name: 'limiter', prefix: '/limiter', backend: to(rateLimiter.port) },
      { name: 'dead', prefix: '/dead', backend: to(await freePort()) },
    ],
    policies: [
      {
        key: 'tracing',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'tracing' },
        target: { gateway: { namespace: 'ns', name: 'gw' } },
        policy: { frontend: { tracing: { target: { service: { backend: 'ns/dead' }, protocol: 'GRPC' } } } },
      },
    ],
  })
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
  rateLimiter.kill()
})

async function traced(path: string): Promise<TraceEvent[]> {
  const watcher = await watchTrace({ adminPort: gateway.proxy.ports.admin })
  await (await fetch(gateway.url + path)).text()
  return watcher.ended
}

describe('calls beside the backend', () => {
  it('are reported in order, each in its scope', async () => {
    const events = await traced('/all')
    const own = outline(events).filter(
      (line) => /Call|^policy [a-z]|traceSampling/.test(line) && !line.startsWith('mirror'),
    )
    expect(own).toEqual([
      'traceSampling',
      'ext_authz > backendCallStart',
      'ext_authz > backendCallResult',
      'policy ext authz',
      'rate_limit > backendCallStart',
      'rate_limit > backendCallResult',
      'policy remote rate limit',
      'backendCallStart',
      'backendCallResult',
      // The headers of the limit.
      'policy remote rate limit',
    ])
    const mirrored = outline(events).filter((line) => line.startsWith('mirror'))
    expect(mirrored.slice(0, 2)).toEqual(['mirror > requestSnapshot final request', 'mirror > backendCallStart'])
    const asked = events.find(
      ({ scope, message }) => scope?.[0] === 'ext_authz' && message.type === 'backendCallResult',
    )
    expect(asked).toMatchObject({ severity: 'success', message: { status: 200, error: null } })
    expect(asked?.eventStart).toBeGreaterThan(0)
    expect(events.at(-1)?.message.type).toBe('requestFinished')
  })

  it('contain the reason why a service did not answer', async () => {
    const events = await traced('/away')
    const asked = events.find(
      ({ scope, message }) => scope?.[0] === 'ext_authz' && message.type === 'backendCallResult',
    )
    expect(asked).toMatchObject({ severity: 'error', message: { error: expect.stringContaining('ECONNREFUSED') } })
    expect(events.at(-1)).toMatchObject({ message: { type: 'requestFinished', status: 200 } })
  })

  it('are counted', async () => {
    const text = await (await fetch(`http://127.0.0.1:${gateway.proxy.ports.stats}/metrics`)).text()
    for (const labels of ['kind="Policy",subtype="ExtAuthz"', 'kind="Policy",subtype="RateLimit"']) {
      expect(text).toMatch(new RegExp(`gw_upstream_call_duration_seconds_count\\{${labels}\\} \\d+`))
    }
  })
})
