// What appProtocol says, and that it reaches the targets of a Service.
import { expect, it } from 'vitest'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { TargetDirectory } from '../backend/directory.ts'
import { EndpointTable } from '../backend/endpoints.ts'
import { TargetResolver } from '../backend/targets.ts'
import { versionOfAppProtocol } from './http2-version.ts'

it.each([
  ['kubernetes.io/h2c', 'HTTP2'],
  ['grpc', 'HTTP2'],
  ['GRPC', 'HTTP2'],
  ['http2', 'HTTP2'],
  ['kubernetes.io/ws', 'HTTP1'],
  ['http', undefined],
  ['mongo', undefined],
  [undefined, undefined],
] as const)('%s: %s', (appProtocol, expected) => {
  expect(versionOfAppProtocol(appProtocol)).toBe(expected)
})

const service = { hostname: 'a.ns', namespace: 'ns' }
const config: RenderedConfig = {
  version: 2,
  binds: [],
  listeners: [],
  routes: [],
  tcpRoutes: [],
  backends: [],
  policies: [],
  services: [{ ...service, name: 'a', ports: [{ port: 80 }, { port: 81, appProtocol: 'kubernetes.io/h2c' }] }],
  workloads: [
    {
      uid: 'one',
      addresses: ['127.0.0.1'],
      healthy: true,
      services: [
        {
          ...service,
          ports: [
            { port: 80, targetPort: 8080 },
            { port: 81, targetPort: 8080 },
          ],
        },
      ],
    },
  ],
}

it('a policy wins over the Service; versions have pools of their own', () => {
  const resolver = new TargetResolver(TargetDirectory.of(config), new EndpointTable(undefined))
  const target = (port: number, version?: 'HTTP1' | 'HTTP2') => {
    const policies = version === undefined ? {} : { http: { version } }
    return resolver.resolve({ service: { ...service, port } }, policies)?.pick()?.target
  }
  expect([target(80)?.httpVersion, target(81)?.httpVersion]).toEqual([undefined, 'HTTP2'])
  expect([target(80, 'HTTP2')?.httpVersion, target(81, 'HTTP1')?.httpVersion]).toEqual(['HTTP2', 'HTTP1'])
  expect(new Set([target(80)?.key, target(81)?.key, target(81, 'HTTP1')?.key]).size).toBe(3)
})
