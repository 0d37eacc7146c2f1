import { expect, it } from 'vitest'
import type { Backend } from '#api/ir/types.gen.ts'
import { backendHost } from './backend-host.ts'
import type { CompileContext } from './context.ts'

const BACKENDS = new Map<string, Partial<Backend>>([
  ['n/static', { static: { host: 'a.example', port: 443 } }],
  ['n/socket', { static: { unixPath: '/run/a.sock' } }],
  ['n/dynamic', { dynamic: {} }],
])
// Only the resolver is used.
const CONTEXT = { resolver: { backend: (key: string) => BACKENDS.get(key) } } as unknown as CompileContext

it.each([
  ['an address', { host: 'p.example' }, 'p.example'],
  ['an address before a reference', { host: 'p.example', ref: { backend: 'n/static' } }, 'p.example'],
  [
    'a Service',
    { ref: { service: { hostname: 'w.n.svc.cluster.local', namespace: 'n', port: 80 } } },
    'w.n.svc.cluster.local',
  ],
  ['a host', { ref: { backend: 'n/static' } }, 'a.example'],
  ['a socket', { ref: { backend: 'n/socket' } }, undefined],
  ['a backend whose host each request names', { ref: { backend: 'n/dynamic' } }, undefined],
  ['a backend that does not exist', { ref: { backend: 'n/other' } }, undefined],
  ['nothing', {}, undefined],
])('the host of %s', (_, place, host) => {
  expect(backendHost(place, CONTEXT)).toBe(host)
})
