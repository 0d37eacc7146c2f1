// traffic.buffer: bodies that are larger than the buffer.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const LARGEST = '16 bytes at most'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BufferRequest',
    description: 'a body up to the limit arrives complete, a larger one is rejected with an empty 413',
    sample: 'buffer.yaml',
    async run(gateway) {
      expect(await gateway.echo('/', { method: 'POST', body: LARGEST })).toMatchObject({ body: LARGEST })
      const refused = await gateway.ask('/', { method: 'POST', body: `${LARGEST}!` })
      expect([refused.status, refused.text]).toEqual([413, ''])
    },
  },
  {
    shortName: 'BufferResponse',
    description: 'a larger response is streamed or becomes an empty 502, depending on the failure mode',
    sample: 'buffer.yaml',
    change: changing('GwPolicy/buffer', {
      traffic: {
        buffer: { request: { failureMode: 'FailClosed' }, response: { maxBytes: 8, failureMode: 'FailClosed' } },
      },
    }),
    async run(gateway) {
      const refused = await gateway.ask('/')
      expect([refused.status, refused.text]).toEqual([502, ''])
    },
  },
  {
    shortName: 'BufferFailOpen',
    description: 'with FailOpen a larger body is streamed',
    sample: 'buffer.yaml',
    change: replacing('maxBytes: 16\n', 'maxBytes: 16\n        failureMode: FailOpen\n'),
    async run(gateway) {
      const body = LARGEST.repeat(10)
      expect(await gateway.echo('/', { method: 'POST', body })).toMatchObject({ body })
    },
  },
]
