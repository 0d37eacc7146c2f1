// traffic.extProc: what a processing service gets, changes and rejects, and what happens without it.
import { expect, vi } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'ext-proc.yaml'
const DEADLINE_MS = 10_000
const HELLO = { method: 'POST', body: 'hello' }

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'ExtProcStream',
    description: 'requests and responses are streamed to the service, and changed',
    sample: SAMPLE,
    async run(gateway) {
      const answer = await gateway.ask('/stream', HELLO)
      expect(answer).toMatchObject({ status: 200, headers: { 'x-checked': 'yes' } })
      expect(await gateway.echo('/stream', HELLO)).toMatchObject({
        body: 'HELLO',
        headers: { 'x-processed': 'yes', 'x-tenant': 'shop' },
      })
      const large = 'large '.repeat(100_000)
      expect((await gateway.echo('/stream', { method: 'POST', body: large })).body).toBe(large.toUpperCase())
    },
  },
  {
    shortName: 'ExtProcImmediate',
    description: 'the service answers instead of the backend',
    sample: SAMPLE,
    async run(gateway) {
      for (const path of ['/stream', '/whole']) {
        const refused = await gateway.ask(path, { ...HELLO, headers: { 'x-forbidden': '1' } })
        expect(refused).toMatchObject({ status: 403, text: 'the processor refuses' })
      }
    },
  },
  {
    shortName: 'ExtProcWhole',
    description: 'the service gets complete bodies up to 8192 bytes, larger ones fail; it does not get the response',
    sample: SAMPLE,
    async run(gateway) {
      const answer = await gateway.ask('/whole', HELLO)
      expect(answer.status).toBe(200)
      expect(answer.headers['x-checked']).toBeUndefined()
      expect((await gateway.echo('/whole', { method: 'POST', body: 'a'.repeat(8192) })).body).toBe('A'.repeat(8192))
      const tooLarge = await gateway.ask('/whole', { method: 'POST', body: 'a'.repeat(8193) })
      expect(tooLarge).toMatchObject({
        status: 500,
        text: 'ext_proc failed: the request body is larger than 8192 bytes',
      })
    },
  },
  {
    shortName: 'ExtProcConditional',
    description: 'the service gets no request if no condition is true',
    sample: SAMPLE,
    async run(gateway) {
      expect((await gateway.echo('/choice')).headers['x-processed']).toBeUndefined()
      expect(await gateway.echo('/choice', HELLO)).toMatchObject({ body: 'HELLO', headers: { 'x-processed': 'yes' } })
    },
  },
  {
    shortName: 'ExtProcPreRouting',
    description: 'before routing, the service gets all requests of the Gateway',
    sample: SAMPLE,
    change: replacing(
      `      kind: HTTPRoute
      name: ext-proc
      sectionName: choice
  traffic:
`,
      `      kind: Gateway
      name: ext-proc
  traffic:
    phase: PreRouting
`,
    ),
    async run(gateway) {
      expect(await gateway.echo('/choice', HELLO)).toMatchObject({ body: 'HELLO', headers: { 'x-processed': 'yes' } })
      const refused = await gateway.ask('/nowhere', { ...HELLO, headers: { 'x-forbidden': '1' } })
      expect(refused).toMatchObject({ status: 403, text: 'the processor refuses' })
    },
  },
  {
    shortName: 'ExtProcUnreachable',
    description: 'requests fail if the service cannot be reached',
    sample: SAMPLE,
    async run(gateway) {
      expect(await gateway.ask('/gone', HELLO)).toMatchObject({ status: 500, text: 'ext_proc failed: gRPC status 14' })
      await vi.waitUntil(() => gateway.log().includes('reason=ExtProc'), { timeout: DEADLINE_MS })
    },
  },
  {
    shortName: 'ExtProcFailOpen',
    description: 'with FailOpen, requests continue if the service cannot be reached',
    sample: SAMPLE,
    change: replacing('        name: gone\n---', '        name: gone\n      failureMode: FailOpen\n---'),
    async run(gateway) {
      expect(await gateway.echo('/gone', HELLO)).toMatchObject({ body: 'hello' })
    },
  },
  {
    shortName: 'ExtProcMissingBackend',
    description: 'with a service that does not exist, requests fail and the status names it',
    sample: SAMPLE,
    change: replacing(
      '        name: processor\n      requestAttributes',
      '        name: nowhere\n      requestAttributes',
    ),
    async run(gateway) {
      expect((await gateway.ask('/stream', HELLO)).status).toBe(500)
      const [accepted] = gateway.conditions('GwPolicy', 'ext-proc-stream')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message:
          'spec.traffic.extProc.backendRef: backend(default/nowhere) not found: there is no GwBackend default/nowhere',
      })
    },
  },
  {
    shortName: 'ExtProcTold',
    description: 'the service gets attributes and metadata, and may select other modes if the policy allows it',
    sample: SAMPLE,
    change: changing('GwPolicy/ext-proc-stream', {
      traffic: {
        extProc: {
          failureMode: 'FailClosed',
          processingOptions: {
            requestBodyMode: 'None',
            responseBodyMode: 'BufferedPartial',
            requestHeaderMode: 'Send',
            responseHeaderMode: 'Send',
            requestTrailerMode: 'Send',
            responseTrailerMode: 'Send',
            allowModeOverride: true,
          },
          responseAttributes: { code: 'response.code' },
          metadataContext: { shop: { team: 'request.headers["x-team"]' } },
        },
      },
    }),
    async run(gateway) {
      const headers = { 'x-explain': '1', 'x-team': 'books' }
      const metadata = { shop: { team: 'books' } }
      const answer = await gateway.ask('/stream', { ...HELLO, headers })
      expect(JSON.parse(String(answer.headers['x-got']))).toEqual({ attributes: { code: 200 }, metadata })
      const echo = await gateway.echo('/stream', { ...HELLO, headers })
      expect(echo.body).toBe('hello')
      expect(JSON.parse(String(echo.headers['x-got']))).toEqual({ attributes: { path: '/stream' }, metadata })
      const quiet = await gateway.ask('/stream', { headers: { 'x-quiet': '1' } })
      expect(quiet.status).toBe(200)
      expect(quiet.headers).not.toHaveProperty('x-checked')
      expect((await gateway.echo('/stream', { method: 'POST', body: 'large '.repeat(10_000) })).body?.length).toBe(
        60_000,
      )
    },
  },
  {
    shortName: 'ExtProcNoOverride',
    description: 'without allowModeOverride the modes of the policy apply',
    sample: SAMPLE,
    async run(gateway) {
      const { headers } = await gateway.ask('/stream', { headers: { 'x-quiet': '1' } })
      expect(headers['x-checked']).toBe('yes')
    },
  },
  {
    shortName: 'ExtProcParts',
    description: 'the service does not get skipped headers, and gets the first 8192 bytes of a large request',
    sample: SAMPLE,
    change: changing('GwPolicy/ext-proc-whole', {
      traffic: {
        extProc: {
          processingOptions: {
            requestHeaderMode: 'Skip',
            requestBodyMode: 'BufferedPartial',
            requestTrailerMode: 'Skip',
            responseBodyMode: 'FullDuplexStreamed',
          },
        },
      },
    }),
    async run(gateway) {
      const echo = await gateway.echo('/whole', {
        method: 'POST',
        body: 'a'.repeat(8193),
        headers: { 'x-forbidden': '1' },
      })
      expect(echo.body).toBe(`${'A'.repeat(8192)}a`)
      expect(echo.headers).not.toHaveProperty('x-processed')
    },
  },
  {
    shortName: 'ExtProcWholeResponse',
    description: 'the service gets a complete response up to 8192 bytes, a larger one fails',
    sample: SAMPLE,
    change: changing('GwPolicy/ext-proc-whole', {
      traffic: {
        extProc: {
          processingOptions: {
            requestBodyMode: 'FullDuplexStreamed',
            responseHeaderMode: 'Send',
            responseBodyMode: 'Buffered',
          },
        },
      },
    }),
    async run(gateway) {
      expect(await gateway.ask('/whole', HELLO)).toMatchObject({ status: 200, headers: { 'x-checked': 'yes' } })
      const tooLarge = await gateway.ask('/whole', { method: 'POST', body: 'a'.repeat(8193) })
      expect(tooLarge).toMatchObject({
        status: 500,
        text: 'ext_proc failed: the response body is larger than 8192 bytes',
      })
    },
  },
]
