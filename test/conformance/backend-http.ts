// backend.http: the time one attempt may take.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendRequestTimeout',
    description: 'a backend that does not answer in time gives 504; other backends are not concerned',
    sample: 'backend-http.yaml',
    async run(gateway) {
      expect(await gateway.ask('/silent')).toMatchObject({ status: 504, text: 'upstream call timeout' })
      expect((await gateway.echo('/echo')).server).toBe('echo')
    },
  },
  {
    shortName: 'BackendHTTP2',
    description: 'a backend that never answers in HTTP/2 is a call that times out',
    sample: 'backend-http.yaml',
    change: replacing('version: HTTP1', 'version: HTTP2'),
    async run(gateway) {
      expect(await gateway.ask('/silent')).toMatchObject({ status: 504 })
      expect(gateway.conditions('GwPolicy', 'backend-http')[0]).toMatchObject({ reason: 'Valid' })
    },
  },
]
