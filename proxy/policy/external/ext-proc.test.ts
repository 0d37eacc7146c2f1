// External processing through a whole proxy: what the processor gets in each mode.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../http/server.testing.ts'
import { send, startHarness, type Harness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import {
  BUFFERED,
  NO_BODIES,
  SKIPPED,
  empty,
  headers,
  headersOf,
  partsOf,
  passing,
  piece,
  scripted,
  whole,
  type Reply,
} from './ext-proc/processor.testing.ts'

let h: Harness

beforeAll(async () => {
  h = await startHarness({
    timeoutMs: 400,
    routes: {
      all: {},
      none: { extProc: { processingOptions: NO_BODIES } },
      skipped: { extProc: { processingOptions: { ...SKIPPED, ...NO_BODIES } } },
      'only-request': {
        extProc: { processingOptions: { ...SKIPPED, ...NO_BODIES, requestHeaderMode: 'Send' } },
      },
      'only-streams': { extProc: { processingOptions: SKIPPED } },
      override: { extProc: { processingOptions: { ...NO_BODIES, allowModeOverride: true } } },
      body: {
        inline: {
          transformation: { request: { set: [{ name: 'x-body', expression: 'string(request.body)' }] } },
        },
      },
      context: {
        extProc: {
          processingOptions: BUFFERED,
          requestAttributes: [
            { name: 'path', expression: 'request.path' },
            { name: 'sizes', expression: '{"path": size(request.path), "list": [1, 2.5, true, null]}' },
            { name: 'fails', expression: 'jwt.sub' },
          ],
          responseAttributes: [{ name: 'code', expression: 'response.code' }],
          metadataContext: [
            { namespace: 'com.example', values: [{ name: 'method', expression: 'request.method' }] },
            {
              namespace: 'gw.dev.grpc_initial_metadata',
              values: [
                { name: 'X-Tenant', expression: '"shop"' },
                { name: 'grpc-timeout', expression: '"1S"' },
                { name: 'not a name', expression: '"x"' },
                { name: 'x-fails', expression: 'jwt.sub' },
              ],
            },
          ],
        },
      },
      seen: {
        extProc: { processingOptions: NO_BODIES },
        inline: {
          transformation: {
            response: { set: [{ name: 'x-learned', expression: 'extproc.user + "/" + string(extproc.n)' }] },
          },
        },
      },
    },
  })
})
afterAll(() => h.stop())

const url = (path: string): string => `${h.proxy.url}/${path}`
const noStreams = (): Promise<void> => until(() => h.processor.open === 0, 'the end of all streams')

describe('streamed both ways', () => {
  it('sends headers and bodies, and forwards the returned ones', async () => {
    h.processor.reset(passing)
    const got = await send(url('all?x=1'), {
      body: 'hello',
      headers: { 'x-twice': ['a', 'b'] },
    })
    expect(got).toMatchObject({ status: 200, body: 'echo:hello', isComplete: true })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody+', 'responseHeaders', 'responseBody+'])
    const [first, second, third] = h.processor.seen
    expect(headersOf(first)).toMatchObject({
      ':method': 'POST',
      ':path': '/all?x=1',
      ':scheme': 'http',
      ':authority': h.proxy.url.slice('http://'.length),
      'content-length': '5',
    })
    expect(headersOf(third)).toMatchObject({ ':status': '200', 'x-backend': 'yes' })
    expect(first?.protocolConfig).toMatchObject({ requestBodyMode: 4, responseBodyMode: 4 })
    expect([second?.protocolConfig, third?.protocolConfig]).toEqual([undefined, undefined])
    expect(first?.observabilityMode).toBe(false)
    await noStreams()
  })

  it('reports that there is no body', async () => {
    h.processor.reset(passing)
    expect(await send(url('all'))).toMatchObject({ status: 200, body: 'echo:' })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders+', 'responseHeaders', 'responseBody+'])
  })

  it('sends the body without waiting for the response to the headers', async () => {
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') return
      if (request.request.case === 'requestBody') talk.reply({ response: { case: 'requestHeaders', value: {} } })
      passing(request, talk)
    })
    expect(await send(url('all'), { body: 'hello' })).toMatchObject({ status: 200, body: 'echo:hello' })
  })

  it('forwards bodies of any size, and any replacement', async () => {
    const large = 'x'.repeat(3_000_000)
    h.processor.reset(passing)
    expect(await send(url('all'), { body: large })).toMatchObject({
      status: 200,
      body: `echo:${large}`,
      isComplete: true,
    })
    h.processor.reset((request, talk) => {
      const { case: kind } = request.request
      if (kind !== 'requestBody' && kind !== 'responseBody') passing(request, talk)
      else if (request.request.value.endOfStream) {
        talk.reply(piece(kind, Buffer.from(`${kind} `), false))
        talk.reply(piece(kind, Buffer.from('in pieces'), true))
      }
    })
    const got = await send(url('all'), { body: large })
    expect(got).toMatchObject({ status: 200, body: 'responseBody in pieces', isComplete: true })
    expect(h.received.at(-1)).toMatchObject({ body: 'requestBody in pieces', isComplete: true })
    expect(h.received.at(-1)?.headers['content-length']).toBeUndefined()
    expect(got.headers['content-length']).toBeUndefined()
    await noStreams()
  })

  it('allows the processor to end a body before it has read all of it', async () => {
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestBody') {
        if (talk.seen.filter((one) => one.request.case === 'requestBody').length === 1) {
          talk.reply(piece('requestBody', Buffer.from('enough'), true))
        }
      } else passing(request, talk)
    })
    // The connection of a client that still sends may close before it reads the response.
    const got = await send(url('all'), { body: 'x'.repeat(1_000_000) }).catch(() => ({ status: 200 }))
    expect(got.status).toBe(200)
    expect(h.received.at(-1)).toMatchObject({ body: 'enough', isComplete: true })
    await noStreams()
  })

  it('expressions of later policies read the processed body', async () => {
    h.processor.reset((request, talk) => {
      const { case: kind } = request.request
      if (kind === 'requestBody') talk.reply(piece(kind, Buffer.from('changed'), true))
      else passing(request, talk)
    })
    expect(await send(url('body'), { body: 'sent' })).toMatchObject({ status: 200, body: 'echo:changed' })
    expect(h.received.at(-1)?.headers).toMatchObject({ 'x-body': 'changed', 'content-length': '7' })
  })

  it('sends bodies without headers', async () => {
    h.processor.reset(passing)
    expect(await send(url('only-streams'), { body: 'b' })).toMatchObject({ status: 200, body: 'echo:b' })
    expect(partsOf(h.processor.seen)).toEqual(['requestBody+', 'responseBody+'])
    expect(h.processor.seen[0]?.protocolConfig).toBeDefined()
  })
})

describe('modes', () => {
  it('that skip everything open no stream', async () => {
    h.processor.reset(passing)
    expect(await send(url('skipped'), { body: 'b' })).toMatchObject({ status: 200, body: 'echo:b' })
    expect(h.processor.calls).toEqual([])
  })

  it('that skip the response end the stream with the request', async () => {
    h.processor.reset(passing)
    expect(await send(url('only-request'), { body: 'b' })).toMatchObject({ status: 200, body: 'echo:b' })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders'])
    await noStreams()
  })

  const override = (modeOverride: object): Reply => headers('requestHeaders', {}, { reply: { modeOverride } })

  it.each([
    ['Buffered', { requestBodyMode: 2, responseBodyMode: 2 }, whole('requestBody', 'new')],
    ['Streamed', { requestBodyMode: 1, responseBodyMode: 2 }, whole('requestBody', 'new')],
    ['FullDuplexStreamed', { requestBodyMode: 4, responseBodyMode: 2 }, piece('requestBody', Buffer.from('new'), true)],
    ['BufferedPartial', { requestBodyMode: 3, responseBodyMode: 2 }, whole('requestBody', 'new')],
  ])('are overridden if allowed: %s', async (_, modes, requestBody) => {
    h.processor.reset(
      scripted({
        requestHeaders: override({ ...modes, responseHeaderMode: 2 }),
        requestBody,
        responseBody: whole('responseBody', 'answer'),
      }),
    )
    expect(await send(url('override'), { body: 'old' })).toMatchObject({ status: 200, body: 'answer' })
    expect(h.received.at(-1)).toMatchObject({ body: 'new' })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody+', 'responseBody+'])
  })

  it('are overridden by the response to the response headers', async () => {
    const modeOverride = { responseBodyMode: 2 }
    h.processor.reset(
      scripted({
        responseHeaders: headers('responseHeaders', {}, { reply: { modeOverride } }),
        responseBody: whole('responseBody', 'answer'),
      }),
    )
    expect(await send(url('override'))).toMatchObject({ status: 200, body: 'answer' })
  })

  it.each(['none', 'all'])('are not overridden if not allowed (%s)', async (route) => {
    const modeOverride = { requestBodyMode: 2, responseBodyMode: 2 }
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') talk.reply(override(modeOverride))
      else passing(request, talk)
    })
    expect(await send(url(route), { body: 'old' })).toMatchObject({ status: 200, body: 'echo:old' })
  })

  it('of a chunk and its response alternate', async () => {
    let pieces = 0
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') talk.reply(override({ requestBodyMode: 1, responseHeaderMode: 2 }))
      else if (request.request.case === 'requestBody') {
        pieces++
        talk.reply(whole('requestBody', Buffer.from(request.request.value.body).toString().toUpperCase()))
      }
    })
    const body = 'abcd'.repeat(100_000)
    expect(await send(url('override'), { body })).toMatchObject({ status: 200, isComplete: true })
    expect(h.received.at(-1)).toMatchObject({ body: body.toUpperCase(), isComplete: true })
    expect(pieces).toBeGreaterThan(2)
  })
})

describe('attributes and metadata', () => {
  it('are sent: attributes with the first message of each side, metadata with all', async () => {
    h.processor.reset(empty)
    expect((await send(url('context'), { body: 'b' })).status).toBe(200)
    const [first, second, third] = h.processor.seen
    expect(first?.attributes).toEqual({
      'envoy.filters.http.ext_proc': { path: '/context', sizes: { path: 8, list: [1, 2.5, true, null] } },
    })
    expect(second?.attributes).toEqual({})
    expect(third?.attributes).toEqual({ 'envoy.filters.http.ext_proc': { code: 200 } })
    for (const { metadataContext } of h.processor.seen) {
      expect(metadataContext?.filterMetadata).toEqual({ 'com.example': { method: 'POST' } })
    }
    const metadata = h.processor.calls[0]?.metadata.getMap()
    expect(metadata).toMatchObject({ 'x-tenant': 'shop' })
    expect(Object.keys(metadata ?? {})).not.toContain('x-fails')
  })

  it('are received: dynamic metadata of all responses is extproc in expressions', async () => {
    h.processor.reset(
      scripted({
        requestHeaders: { response: { case: 'requestHeaders', value: {} }, dynamicMetadata: { user: 'alice', n: 1 } },
        responseHeaders: { response: { case: 'responseHeaders', value: {} }, dynamicMetadata: { n: 2 } },
      }),
    )
    // Transformations of responses run before the processor.
    expect((await send(url('seen'))).headers['x-learned']).toBe('alice/1')
  })
})
