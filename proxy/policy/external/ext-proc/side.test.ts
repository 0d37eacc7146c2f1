// Bodies that are replaced, sent whole, or sent in part.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../http/server.testing.ts'
import { send, startHarness, type Harness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import {
  BUFFERED,
  NO_BODIES,
  SKIPPED,
  bodyOf,
  empty,
  headers,
  partsOf,
  passing,
  scripted,
  whole,
  type Fields,
  type Reply,
} from './processor.testing.ts'

/** Each failure has a distinct message. */
const EXT_PROC_FAILED: unknown = expect.stringMatching(/^ext_proc failed: [a-z:].{8,}$/)

let h: Harness

beforeAll(async () => {
  h = await startHarness({
    timeoutMs: 400,
    routes: {
      all: {},
      none: { extProc: { processingOptions: NO_BODIES } },
      buffered: { extProc: { processingOptions: BUFFERED } },
      'open-buffered': { extProc: { failureMode: 'FailOpen', processingOptions: BUFFERED } },
      'only-bodies': { extProc: { processingOptions: { ...SKIPPED, ...BUFFERED } } },
      partial: {
        extProc: { processingOptions: { requestBodyMode: 'BufferedPartial', responseBodyMode: 'BufferedPartial' } },
      },
    },
  })
})
afterAll(() => h.stop())

const url = (path: string): string => `${h.proxy.url}/${path}`
const noStreams = (): Promise<void> => until(() => h.processor.open === 0, 'the end of all streams')

describe('replacing', () => {
  const replace = (kind: 'requestHeaders' | 'responseHeaders', body: string | undefined, set: Fields = {}): Reply =>
    headers(kind, set, {
      common: {
        status: 1,
        ...(body !== undefined && { bodyMutation: { mutation: { case: 'body', value: Buffer.from(body) } } }),
      },
    })

  it.each(['none', 'buffered', 'all'])('a body with the response to the headers (%s)', async (route) => {
    h.processor.reset(
      scripted({
        requestHeaders: replace('requestHeaders', 'new request', { 'x-r': '1' }),
        responseHeaders: replace('responseHeaders', 'new response'),
      }),
    )
    const got = await send(url(route), { body: 'old' })
    expect(got).toMatchObject({ status: 200, body: 'new response', headers: { 'content-length': '12' } })
    expect(h.received.at(-1)).toMatchObject({ body: 'new request' })
    expect(h.received.at(-1)?.headers).toMatchObject({ 'x-r': '1', 'content-length': '11' })
    await noStreams()
  })

  it('turns a GET into a POST', async () => {
    h.processor.reset(scripted({ requestHeaders: replace('requestHeaders', 'made', { ':method': 'POST' }) }))
    expect(await send(url('none'))).toMatchObject({ status: 200, body: 'echo:made' })
    expect(h.received.at(-1)).toMatchObject({ method: 'POST', body: 'made' })
  })

  it('without a body keeps the existing one, unsent', async () => {
    h.processor.reset(scripted({ requestHeaders: replace('requestHeaders', undefined, { 'x-r': '1' }) }, empty))
    expect(await send(url('buffered'), { body: 'old' })).toMatchObject({ status: 200, body: 'echo:old' })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'responseHeaders', 'responseBody+'])
  })

  it('without CONTINUE_AND_REPLACE a body there has no effect', async () => {
    const more = { bodyMutation: { mutation: { case: 'body', value: Buffer.from('ignored') } } }
    h.processor.reset(scripted({ requestHeaders: headers('requestHeaders', {}, { common: more }) }))
    expect(await send(url('none'), { body: 'old' })).toMatchObject({ status: 200, body: 'echo:old' })
  })
})

describe('whole bodies', () => {
  it('are sent after the response to the headers, and replaced', async () => {
    h.processor.reset(
      scripted({
        requestBody: whole('requestBody', 'new request', { 'x-b': '1' }),
        responseBody: whole('responseBody', 'new response', { 'x-c': '2', ':status': '203' }),
      }),
    )
    const got = await send(url('buffered'), { body: 'old' })
    expect(got).toMatchObject({ status: 203, body: 'new response', headers: { 'x-c': '2', 'content-length': '12' } })
    expect(h.received.at(-1)).toMatchObject({ body: 'new request' })
    expect(h.received.at(-1)?.headers).toMatchObject({ 'x-b': '1', 'content-length': '11' })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody+', 'responseHeaders', 'responseBody+'])
    expect(bodyOf(h.processor.seen, 'responseBody')).toBe('echo:new request')
  })

  it('are emptied', async () => {
    const response = { bodyMutation: { mutation: { case: 'clearBody', value: true } } } as const
    const clear = (kind: 'requestBody' | 'responseBody'): Reply => ({ response: { case: kind, value: { response } } })
    h.processor.reset(scripted({ requestBody: clear('requestBody'), responseBody: clear('responseBody') }))
    expect(await send(url('buffered'), { body: 'old' })).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': '0' },
    })
    expect(h.received.at(-1)).toMatchObject({ body: '' })
  })

  it.each([0, 1, 8192])('of %i bytes are sent', async (size) => {
    const body = 'x'.repeat(size)
    h.processor.reset(scripted({ responseBody: whole('responseBody', 'short') }, empty))
    const got = await send(url('only-bodies'), { body: Buffer.from(body), headers: { 'transfer-encoding': 'chunked' } })
    // The response of the backend is longer than its request.
    if (size === 8192) expect(got).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    else expect(got).toMatchObject({ status: 200, body: 'short' })
    expect(h.received.at(-1)).toMatchObject({ body })
    expect(bodyOf(h.processor.seen, 'requestBody')).toBe(body)
  })

  it('over the limit are failures, and FailOpen forwards them whole', async () => {
    const body = 'x'.repeat(8193)
    h.processor.reset(empty)
    expect(await send(url('buffered'), { body })).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    const got = await send(url('open-buffered'), { body })
    expect(got).toMatchObject({ status: 200, body: `echo:${body}`, isComplete: true })
    expect(h.received.at(-1)).toMatchObject({ body, isComplete: true })
    expect(h.received.at(-1)?.headers['content-length']).toBe('8193')
    await noStreams()
  })

  it.each([
    ['another length', { 'content-length': '5' }, 500],
    ['its own length', { 'content-length': '3' }, 200],
  ])('announced with %s', async (_, set, status) => {
    h.processor.reset(scripted({ requestBody: whole('requestBody', 'new', set) }, empty))
    expect((await send(url('buffered'), { body: 'old' })).status).toBe(status)
  })

  it('must not be answered in chunks', async () => {
    h.processor.reset(passing)
    expect(await send(url('buffered'), { body: 'old' })).toMatchObject({ status: 500 })
  })
})

describe('the beginning of bodies', () => {
  it('is sent, and the rest is forwarded after it', async () => {
    const rest = 'y'.repeat(100_000)
    h.processor.reset(
      scripted({
        requestBody: whole('requestBody', 'begin:'),
        responseBody: whole('responseBody', 'answer:', { 'x-b': '1' }),
      }),
    )
    const got = await send(url('partial'), { body: 'x'.repeat(8192) + rest })
    expect(h.received.at(-1)).toMatchObject({ body: `begin:${rest}`, isComplete: true })
    expect(got).toMatchObject({ status: 200, headers: { 'x-b': '1' }, isComplete: true })
    expect(got.body).toBe(`answer:${`echo:begin:${rest}`.slice(8192)}`)
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'])
    expect(bodyOf(h.processor.seen, 'requestBody')).toBe('x'.repeat(8192))
  })

  it('is the whole of a small one', async () => {
    h.processor.reset(scripted({ requestBody: whole('requestBody', 'new') }, empty))
    expect(await send(url('partial'), { body: 'old' })).toMatchObject({ status: 200, body: 'echo:new' })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody+', 'responseHeaders', 'responseBody+'])
  })
})
