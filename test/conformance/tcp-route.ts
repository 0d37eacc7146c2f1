// TCPRoute: connections, their weights, and connections without a backend.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'
import type { SampleGateway } from './suite/gateway.ts'

const SAMPLE = 'local/tcp-weighted.yaml'
const REQUESTS = 200

/** Both answer HTTP, so that the response has their name. */
const answering = replacing('port: 18086', 'port: 18084')

const weighted = (primary: number, secondary: number): ((manifests: string) => string) =>
  all(answering, replacing('weight: 9', `weight: ${primary}`), replacing('weight: 1\n', `weight: ${secondary}\n`))

/** The number of connections of each server; each connection carries one request. */
async function shares(gateway: SampleGateway, count: number): Promise<Readonly<Record<string, number>>> {
  const got: Record<string, number> = { echo: 0, spare: 0 }
  for (let i = 0; i < count; i++) {
    const { server } = await gateway.echo('/', { headers: { connection: 'close' } })
    got[server] = (got[server] ?? 0) + 1
  }
  return got
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'TCPRoute',
    description: 'bytes are forwarded to a backend and back unchanged',
    sample: SAMPLE,
    async run(gateway) {
      // Nine in ten; the other backend is an MCP server and answers 404.
      await expect.poll(async () => (await gateway.ask('/')).text).toContain('"server": "echo"')
    },
  },
  {
    shortName: 'TCPRouteWeights',
    description: 'connections are split by weight',
    sample: SAMPLE,
    change: weighted(9, 1),
    async run(gateway) {
      const { echo = 0, spare = 0 } = await shares(gateway, REQUESTS)
      // 180 and 20 expected; the limits are five standard deviations away.
      expect(echo + spare).toBe(REQUESTS)
      expect(spare).toBeGreaterThan(0)
      expect(spare).toBeLessThan(42)
    },
  },
  {
    shortName: 'TCPRouteWeightZero',
    description: 'a backend with weight 0 gets nothing',
    sample: SAMPLE,
    change: weighted(0, 1),
    async run(gateway) {
      expect(await shares(gateway, 20)).toEqual({ echo: 0, spare: 20 })
    },
  },
  {
    shortName: 'TCPRouteNoBackend',
    description: 'a reference to a missing backend closes the connection and is reported in the status',
    sample: SAMPLE,
    change: changing('TCPRoute/tcp', {
      rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'missing' }] }],
    }),
    async run(gateway) {
      await expect(gateway.ask('/')).rejects.toThrow(/socket hang up|ECONNRESET/)
      expect(gateway.conditions('TCPRoute', 'tcp')).toMatchObject([
        { type: 'Accepted', status: 'True' },
        { type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound' },
      ])
    },
  },
]
