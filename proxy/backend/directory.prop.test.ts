import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyConfig } from '#api/ir/empty.ts'
import { keepItems } from '#api/ir/keep-items.ts'
import type { RenderedConfig, Service, Workload } from '#api/ir/types.gen.ts'
import { TargetDirectory } from './directory.ts'

const HOSTS = ['a', 'b', 'c']
const PORTS = [80, 81]

const service: fc.Arbitrary<Service> = fc.constantFrom(...HOSTS).map((hostname) => ({
  name: hostname,
  namespace: 'n',
  hostname,
  ports: PORTS.map((port) => ({ port })),
}))
const workload: fc.Arbitrary<Workload> = fc.record({
  uid: fc.constantFrom('u', 'v', 'w', 'x', 'y'),
  addresses: fc.constantFrom([], ['10.0.0.1'], ['10.0.0.2']),
  healthy: fc.constantFrom(true, true, false),
  services: fc.subarray(HOSTS).map((hosts) =>
    hosts.map((hostname) => ({
      namespace: 'n',
      hostname,
      ports: PORTS.map((port) => ({ port, targetPort: port + 1000 })),
    })),
  ),
})
const config: fc.Arbitrary<RenderedConfig> = fc
  .record({
    services: fc.uniqueArray(service, { selector: ({ hostname }) => hostname }),
    workloads: fc.uniqueArray(workload, { selector: ({ uid }) => uid }),
  })
  .map((lists) => ({ ...emptyConfig(), ...lists }))

function all(directory: TargetDirectory): unknown {
  return HOSTS.map((host) => [
    directory.service('n', host),
    ...PORTS.map((port) => directory.addresses('n', host, port)),
  ])
}

describe('TargetDirectory', () => {
  it('equals a new one, whatever it reused, and the former one is unchanged', () => {
    fc.assert(
      fc.property(fc.array(config, { minLength: 1, maxLength: 6 }), (configs) => {
        let last = emptyConfig()
        let directory = TargetDirectory.of(last)
        for (const read of configs) {
          const now = keepItems(last, read)
          const before = all(directory)
          const next = TargetDirectory.of(now, directory)
          expect(all(next)).toEqual(all(TargetDirectory.of(now)))
          expect(all(directory)).toEqual(before)
          directory = next
          last = now
        }
      }),
    )
  })
})
