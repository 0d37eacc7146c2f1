// backend.transformation: changes of requests and responses of one backend.
import { expect } from 'vitest'
import type { ConformanceCase } from './suite/case.ts'

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendTransformation',
    description: 'the backend sees the computed header, the client no longer sees the removed one',
    sample: 'backend-transformation.yaml',
    async run(gateway) {
      const echo = await gateway.echo('/', { headers: { 'x-forwarded-by': 'client' } })
      expect(echo.headers['x-forwarded-by']).toBe('default/backend-transformation')
      expect((await gateway.ask('/')).headers).not.toHaveProperty('x-powered-by')
    },
  },
]
