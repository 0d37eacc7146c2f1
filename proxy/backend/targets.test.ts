// What of a backend's host goes into Host and into the handshake.
import { emptyConfig } from '#api/ir/empty.ts'
import { expect, it } from 'vitest'
import { TargetDirectory } from './directory.ts'
import { EndpointTable } from './endpoints.ts'
import { TargetResolver } from './targets.ts'

it.each([
  ['bücher.example.', 443, 'xn--bcher-kva.example.', 'xn--bcher-kva.example'],
  ['api.example.com.', 8443, 'api.example.com.:8443', 'api.example.com'],
  ['192.0.2.1', 443, '192.0.2.1', undefined],
])('%s port %s: Host %s, server name %s', (host, port, authority, servername) => {
  const resolver = new TargetResolver(TargetDirectory.of(emptyConfig()), new EndpointTable(undefined))
  const endpoint = resolver.address('ns/b', { host, port }, { tls: {} }).pick()
  expect([endpoint?.authority, endpoint?.target.host, endpoint?.target.tls?.servername]).toEqual([
    authority,
    host,
    servername,
  ])
})
