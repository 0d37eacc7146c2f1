// Any bytes give an outcome, never an exception, and cutting a valid hello never changes its name.
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { readClientHello } from './client-hello.ts'
import { captureHello } from './client.testing.ts'

let real: Buffer
beforeAll(async () => {
  real = await captureHello('www.example.com')
})

describe('readClientHello', () => {
  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, asRecord) => {
        const head = asRecord
          ? Buffer.from([22, 3, 1, bytes.length >> 8, bytes.length & 0xff, 1, 0, 0, bytes.length])
          : Buffer.alloc(0)
        expect(['More', 'Hello', 'Invalid']).toContain(readClientHello(Buffer.concat([head, bytes])).kind)
      }),
    )
  })

  it('takes a real hello with any changed bytes', () => {
    const change = fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 255 }))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Buffer.from(real)
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        const outcome = readClientHello(bytes)
        expect(['More', 'Hello', 'Invalid']).toContain(outcome.kind)
        if (outcome.kind === 'Hello') expect(outcome.serverName ?? 'a').toMatch(/^[!-~]+$/)
      }),
      { numRuns: 2000 },
    )
  })
})
