// HTTPRoute filters of a backendRef: headers both ways, rewrites, copies and redirects of one backend of one rule.
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'backend-ref-filters.yaml'

interface DumpedBackend {
  readonly backend: { readonly host: { readonly name: string; readonly info: { readonly totalRequests: number } } }
}

const ref = (name: string) => ({ group: 'gw.dev', kind: 'GwBackend', name })

const withRules = (...rules: readonly object[]): ((manifests: string) => string) =>
  changing('HTTPRoute/backend-ref-filters', { rules })

const EXTENSION = { type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Thing', name: 'thing' } }

const askedAt = (path: string, service: string): object => {
  const externalAuth = { protocol: 'HTTP', backendRef: ref(service), http: {} }
  return {
    matches: [{ path: { type: 'PathPrefix', value: path } }],
    backendRefs: [{ ...ref('echo'), filters: [{ type: 'ExternalAuth', externalAuth }] }],
  }
}

const refusing = (level: string, rule: object): ConformanceCase => ({
  shortName: `ExtensionRef${level}`,
  description: 'an unknown filter is reported by name, and the route is not served',
  sample: SAMPLE,
  change: withRules(rule),
  async run(gateway) {
    expect((await gateway.ask('/')).status).toBe(404)
    const conditions = gateway.conditions('HTTPRoute', 'backend-ref-filters')
    expect(conditions.find(({ type }) => type === 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'IncompatibleFilters',
      message: expect.stringContaining('filter ExtensionRef is not supported; attach a GwPolicy to the route instead'),
    })
  },
})

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BackendRefHeaders',
    description: 'the backend and the client get the headers of the backendRef, on its rule only',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/headers')).headers).toMatchObject({ 'x-backend': 'echo' })
      expect((await gateway.ask('/headers')).headers['x-served-by']).toBe('echo')
      expect((await gateway.echo('/copied')).headers).not.toHaveProperty('x-backend')
    },
  },
  {
    shortName: 'BackendRefRewrite',
    description: 'the backend gets the path and host of the backendRef',
    sample: SAMPLE,
    async run(gateway) {
      const echo = await gateway.echo('/rewritten/a?b=1', { headers: { host: 'shop.example.com' } })
      expect(echo.path).toBe('/v2/a?b=1')
      expect(echo.headers['host']).toBe('v2.example.com')
    },
  },
  {
    shortName: 'BackendRefRedirect',
    description: 'the client is redirected, and the backend gets no request',
    sample: SAMPLE,
    async run(gateway) {
      const answer = await gateway.ask('/moved/a', { headers: { host: `gw.example.com:${gateway.port}` } })
      expect(answer).toMatchObject({ status: 307, text: '' })
      expect(answer.headers.location).toMatch(/^http:\/\/other\.example\.com(:\d+)?\/moved\/a$/)
    },
  },
  {
    shortName: 'BackendRefMirror',
    description: 'the other server gets a copy',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/copied')).server).toBe('echo')
      const copies = async (): Promise<number | undefined> => {
        const { backends } = (await gateway.dump()) as { backends: DumpedBackend[] } // api/admin describes it
        return backends.find(({ backend }) => backend.host.name === 'spare')?.backend.host.info.totalRequests
      }
      await expect.poll(copies).toBe(1)
    },
  },
  {
    shortName: 'BackendRefMirrorUnresolved',
    description: 'a mirror that does not exist is left out and reported in ResolvedRefs, and the route is served',
    sample: SAMPLE,
    change: replacing('                  name: spare\n', '                  name: nowhere\n'),
    async run(gateway) {
      expect((await gateway.echo('/copied')).server).toBe('echo')
      const conditions = gateway.conditions('HTTPRoute', 'backend-ref-filters')
      expect(conditions.find(({ type }) => type === 'ResolvedRefs')).toMatchObject({ status: 'False' })
    },
  },
  {
    shortName: 'BackendRefCors',
    description: 'the gateway answers preflights for the backend, and its responses have the headers',
    sample: SAMPLE,
    change: replacing(
      '            - type: URLRewrite\n              urlRewrite:\n                hostname: v2.example.com\n' +
        '                path:\n                  type: ReplacePrefixMatch\n                  replacePrefixMatch: /v2\n',
      '            - type: CORS\n              cors:\n                allowOrigins:\n                  - https://shop.example.com\n' +
        '                allowMethods:\n                  - PUT\n',
    ),
    async run(gateway) {
      const preflight = (origin: string, path = '/rewritten/a') =>
        gateway.ask(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } })
      const allowed = await preflight('https://shop.example.com')
      expect(allowed).toMatchObject({ status: 200, text: '' })
      expect(allowed.headers).toMatchObject({
        'access-control-allow-origin': 'https://shop.example.com',
        'access-control-allow-methods': 'PUT',
      })
      const refused = await preflight('https://evil.example.com')
      expect(refused).toMatchObject({ status: 200, text: '' })
      expect(refused.headers).not.toHaveProperty('access-control-allow-origin')
      const answer = await gateway.ask('/rewritten/a', { headers: { origin: 'https://shop.example.com' } })
      expect(answer.headers).toMatchObject({ 'access-control-allow-origin': 'https://shop.example.com' })
      expect((await preflight('https://shop.example.com', '/headers')).text).not.toBe('')
    },
  },
  {
    shortName: 'BackendRefExternalAuth',
    description: 'the service of the backendRef is asked; with one that does not exist, requests are rejected',
    sample: SAMPLE,
    change: withRules(askedAt('/asked', 'spare'), askedAt('/refused', 'nowhere')),
    async run(gateway) {
      await gateway.echo('/asked')
      expect(await gateway.ask('/refused')).toMatchObject({ status: 403, text: 'external authorization failed' })
    },
  },
  refusing('Rule', { filters: [EXTENSION], backendRefs: [ref('echo')] }),
  refusing('BackendRef', { backendRefs: [{ ...ref('echo'), filters: [EXTENSION] }] }),
]
