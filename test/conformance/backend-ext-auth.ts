// backend.extAuth: only what goes to the backend of the policy is asked about.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-ext-auth.yaml'
const ALICE = { headers: { authorization: 'Bearer alice-token' } }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendExtAuth',
    description: 'the guarded backend gets what the service lets pass, the open one everything',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/guarded', ALICE)).headers['x-user']).toBe('alice')
      expect((await gateway.ask('/guarded')).status).toBe(401)
      await gateway.echo('/open')
    },
  },
  {
    shortName: 'BackendExtAuthMissingBackend',
    description: 'a service that does not exist refuses',
    sample: SAMPLE,
    change: replacing('        name: authz-http\n', '        name: nowhere\n'),
    async run(gateway) {
      expect((await gateway.ask('/guarded', ALICE)).status).toBe(403)
      await gateway.echo('/open')
    },
  },
]
