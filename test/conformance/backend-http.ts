// backend.http: the timeout of one try.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendRequestTimeout',
    description: 'a backend that does not answer in time causes 504; other backends are not affected',
    sample: 'backend-http.yaml',
    async run(gateway) {
      expect(await gateway.ask('/silent')).toMatchObject({ status: 504, text: 'upstream call timeout' })
      expect((await gateway.echo('/echo')).server).toBe('echo')
    },
  },
  {
    shortName: 'BackendHTTP2',
    description: 'a backend that never answers over HTTP/2 causes a timeout',
    sample: 'backend-http.yaml',
    change: replacing('version: HTTP1', 'version: HTTP2'),
    async run(gateway) {
      expect(await gateway.ask('/silent')).toMatchObject({ status: 504 })
      expect(gateway.conditions('GwPolicy', 'backend-http')[0]).toMatchObject({ reason: 'Valid' })
    },
  },
]
