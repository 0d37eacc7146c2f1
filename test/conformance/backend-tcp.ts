// backend.tcp: the time a connection may take to come about.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ConnectTimeout',
    description: 'a backend that does not take connections gives 504, others are reached',
    sample: 'backend-tcp.yaml',
    async run(gateway) {
      expect(await gateway.ask('/hanging')).toMatchObject({ status: 504, text: 'upstream call timeout' })
      expect((await gateway.echo('/echo')).server).toBe('echo')
    },
  },
]
