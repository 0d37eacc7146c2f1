import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyConfig } from '../ir/empty.ts'
import { DeliveryEncoder, type DeliveryInput, encodeDelivery } from './encode.ts'

const GATEWAY = { name: 'web', uid: 'u', generation: 1 }
const binds = [[], [{ key: 'a', port: 1 }], [{ key: 'b', port: 2 }]]
const services = [[], [{ namespace: 'n', name: 's', hostname: 's.n', ports: [] }]]
const secrets = ['one', 'two'].map((value) => ({ version: 1 as const, secrets: [{ key: 'k', value }] }))

describe('DeliveryEncoder', () => {
  it('returns the same as a fresh encoder, whatever it has encoded before', () => {
    const pick = <T>(items: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...items)
    const step = fc.tuple(pick(binds), pick(services), pick(secrets), fc.integer({ min: 0, max: 3 }), pick(['s', 't']))
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const encoder = new DeliveryEncoder()
        for (const [bindList, serviceList, secretList, generation, salt] of steps) {
          const config = { ...emptyConfig(), binds: bindList, services: serviceList }
          const input: DeliveryInput = { gateway: GATEWAY, config, secrets: secretList, generation, salt }
          expect(encoder.encode(input)).toEqual(encodeDelivery(input))
        }
      }),
    )
  })
})
