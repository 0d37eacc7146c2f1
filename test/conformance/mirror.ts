// RequestMirror: copies of requests without a wait for the response.
import { expect } from 'vitest'
import { replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const REQUESTS = 100

interface DumpedBackend {
  readonly backend: { readonly host: { readonly name: string; readonly info: { readonly totalRequests: number } } }
}

async function requestsOf(gateway: SampleGateway, name: string): Promise<number> {
  const { backends } = (await gateway.dump()) as { backends: DumpedBackend[] } // api/admin describes it
  return backends.find(({ backend }) => backend.host.name === name)?.backend.host.info.totalRequests ?? 0
}

async function send(gateway: SampleGateway): Promise<void> {
  for (let i = 0; i < REQUESTS; i++)
    expect((await gateway.echo('/', { method: 'POST', body: 'x' })).server).toBe('echo')
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'MirrorAllAndHalf',
    description: 'the backend answers, and the mirror gets a copy of every request and about half of them again',
    sample: 'mirror.yaml',
    async run(gateway) {
      await send(gateway)
      expect(await requestsOf(gateway, 'echo')).toBe(REQUESTS)
      const copies = await requestsOf(gateway, 'spare')
      // Six standard deviations around the half.
      expect(Math.abs(copies - REQUESTS * 1.5)).toBeLessThan(6 * Math.sqrt(REQUESTS / 4))
    },
  },
  {
    shortName: 'MirrorUnresolved',
    description: 'a mirror that does not exist is left out and reported in ResolvedRefs, and the route is served',
    sample: 'mirror.yaml',
    change: replacing('              name: spare\n', '              name: nowhere\n'),
    async run(gateway) {
      expect((await gateway.echo('/')).server).toBe('echo')
      const conditions = gateway.conditions('HTTPRoute', 'mirror')
      expect(conditions.find(({ type }) => type === 'ResolvedRefs')).toMatchObject({
        status: 'False',
        reason: 'BackendNotFound',
      })
    },
  },
]
