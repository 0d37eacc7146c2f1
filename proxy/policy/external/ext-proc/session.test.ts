// How a session ends: with an immediate response of the processor, or by a failure of any peer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../http/server.testing.ts'
import { send, startHarness, type Harness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import {
  BUFFERED,
  NO_BODIES,
  SKIPPED,
  empty,
  immediate,
  mutation,
  partsOf,
  passing,
  piece,
  scripted,
  unchanged,
  whole,
  type Reply,
  type Script,
} from './processor.testing.ts'

/** Each failure has a distinct message. */
const EXT_PROC_FAILED: unknown = expect.stringMatching(/^ext_proc failed: [a-z:].{8,}$/)

let h: Harness

beforeAll(async () => {
  const absent = { service: { backend: 'ns/absent' } }
  h = await startHarness({
    timeoutMs: 400,
    routes: {
      all: {},
      none: { extProc: { processingOptions: NO_BODIES } },
      buffered: { extProc: { processingOptions: BUFFERED } },
      'open-none': { extProc: { failureMode: 'FailOpen', processingOptions: NO_BODIES } },
      'open-buffered': { extProc: { failureMode: 'FailOpen', processingOptions: BUFFERED } },
      'open-all': { extProc: { failureMode: 'FailOpen' } },
      gone: { extProc: absent },
      'gone-open': { extProc: { ...absent, failureMode: 'FailOpen' } },
      'gone-bodies': {
        extProc: { ...absent, failureMode: 'FailOpen', processingOptions: { ...SKIPPED, ...BUFFERED } },
      },
      'gone-streams': { extProc: { ...absent, failureMode: 'FailOpen', processingOptions: SKIPPED } },
      missing: { extProc: { service: { invalid: { reason: 'BackendNotFound', message: 'm' } } } },
      slow: { extProc: { service: { backend: 'ns/patient' } }, inline: { timeouts: { requestMs: 250 } } },
      local: { inline: { directResponse: { status: 299, body: 'made here' } } },
    },
  })
})
afterAll(() => h.stop())

const url = (path: string): string => `${h.proxy.url}/${path}`
const noStreams = (): Promise<void> => until(() => h.processor.open === 0, 'the end of all streams')

describe('an immediate response', () => {
  it.each(['requestHeaders', 'requestBody', 'responseHeaders', 'responseBody'])('replaces %s', async (part) => {
    const reply = immediate({
      status: { code: 418 },
      headers: mutation({ 'x-i': '1' }),
      body: Buffer.from('teapot'),
      details: 'why',
    })
    h.processor.reset(scripted({ [part]: reply }, empty))
    const got = await send(url('buffered'), { body: 'b' })
    expect(got).toMatchObject({ status: 418, body: 'teapot', headers: { 'x-i': '1', 'content-type': 'text/plain' } })
    expect(got.headers['x-backend']).toBeUndefined()
    await noStreams()
  })

  it('while the body is streamed to the backend', async () => {
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') passing(request, talk)
      else if (talk.seen.length === 4) talk.reply(immediate({ status: { code: 403 }, body: Buffer.from('no') }))
      else passing(request, talk)
    })
    // The connection of a client that still sends may close before it reads the response.
    const got = await send(url('all'), { body: 'x'.repeat(1_000_000) }).catch(() => ({ status: 403, body: 'no' }))
    expect(got).toMatchObject({ status: 403, body: 'no' })
    await noStreams()
  })

  it.each([
    ['no status', {}, 200, ''],
    ['no answer status', { status: { code: 100 } }, 500, EXT_PROC_FAILED],
    ['an invalid header', { status: { code: 403 }, headers: mutation({ 'a b': 'c' }) }, 500, EXT_PROC_FAILED],
  ])('with %s', async (_, value, status, body) => {
    h.processor.reset(scripted({ requestHeaders: immediate(value) }))
    expect(await send(url('none'))).toMatchObject({ status, body })
  })

  it('to a gRPC call has a gRPC status', async () => {
    const call = { method: 'POST', headers: { 'content-type': 'application/grpc' } }
    const value = {
      status: { code: 403 },
      headers: mutation({ 'x-i': '1', 'grpc-status': '0' }),
      body: Buffer.from('nein!'),
    }
    h.processor.reset(scripted({ requestHeaders: immediate(value) }))
    const mapped = await send(url('none'), call)
    expect(mapped).toMatchObject({
      status: 200,
      body: '',
      headers: { 'grpc-status': '7', 'grpc-message': 'nein!', 'x-i': '1' },
    })
    h.processor.reset(scripted({ requestHeaders: immediate({ ...value, grpcStatus: { status: 9 } }) }))
    expect((await send(url('none'), call)).headers).toMatchObject({ 'grpc-status': '9' })
  })
})

describe('failures', () => {
  /** The form of grpc-js: an error with a status. */
  const dying: Script = (_, { call }) => void call.emit('error', Object.assign(new Error('dead'), { code: 14 }))

  it.each([
    ['gone', 500],
    ['missing', 500],
    ['gone-open', 200],
    ['gone-bodies', 200],
    ['gone-streams', 200],
  ])('a processor that cannot be reached: %s', async (route, status) => {
    const got = await send(url(route), { body: 'body' })
    expect(got).toMatchObject({ status, body: status === 200 ? 'echo:body' : EXT_PROC_FAILED, isComplete: true })
  })

  it('a processor that dies after it has read headers only', async () => {
    h.processor.reset(dying)
    expect(await send(url('none'), { body: 'b' })).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    expect(await send(url('open-none'), { body: 'b' })).toMatchObject({ status: 200, body: 'echo:b' })
  })

  it.each(['open-buffered', 'open-all'])('a processor that dies with a body (%s)', async (route) => {
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') passing(request, talk)
      else dying(request, talk)
    })
    expect(await send(url(route), { body: 'b' })).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    await noStreams()
  })

  it('a processor that dies at the response', async () => {
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') passing(request, talk)
      else dying(request, talk)
    })
    expect(await send(url('none'))).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    expect(await send(url('open-none'))).toMatchObject({ status: 200, body: 'echo:', headers: { 'x-backend': 'yes' } })
  })

  it('a processor that dies during a response truncates it', async () => {
    h.processor.reset((request, talk) => {
      if (request.request.case !== 'responseBody') passing(request, talk)
      else {
        talk.reply(piece('responseBody', Buffer.from('half'), false))
        setImmediate(() => dying(request, talk))
      }
    })
    const got = await send(url('all'), { body: 'b' })
    expect(got).toMatchObject({ status: 200, isComplete: false })
  })

  it.each(['none', 'buffered', 'all'])('a processor that sends nothing (%s)', async (route) => {
    h.processor.reset(() => undefined)
    expect(await send(url(route), { body: 'b' })).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    await noStreams()
  })

  it('a processor may extend its deadline, once', async () => {
    const seconds = (n: number): Reply => ({ overrideMessageTimeout: { seconds: BigInt(n), nanos: 0 } })
    h.processor.reset((request, talk) => {
      if (request.request.case !== 'requestHeaders') return passing(request, talk)
      talk.reply(seconds(5))
      setTimeout(() => passing(request, talk), 700)
    })
    expect(await send(url('none'))).toMatchObject({ status: 200 })
    h.processor.reset((request, talk) => {
      if (request.request.case !== 'requestHeaders') return passing(request, talk)
      talk.reply({ overrideMessageTimeout: { seconds: 0n, nanos: 600_000_000 } })
      setTimeout(() => talk.reply(seconds(5)), 300)
    })
    expect(await send(url('none'))).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
  })

  it("the route's own timeout is the request's", async () => {
    h.processor.reset(() => undefined)
    expect(await send(url('slow'), { body: 'b' })).toMatchObject({ status: 504, body: 'request timeout' })
    await noStreams()
  })

  it.each(['none', 'all'])('a processor that closes the stream in order gets no more messages (%s)', async (route) => {
    h.processor.reset((request, talk) => {
      passing(request, talk)
      talk.call.end()
    })
    expect(await send(url(route))).toMatchObject({ status: 200, body: 'echo:' })
    expect(partsOf(h.processor.seen)[0]).toBe('requestHeaders+')
  })

  it.each(['none', 'buffered'])('or gets the response headers too late (%s)', async (route) => {
    h.processor.reset((request, talk) => {
      if (request.request.case === 'requestHeaders') passing(request, talk)
      else talk.call.end()
    })
    expect(await send(url(route))).toMatchObject({ status: 200, body: 'echo:', headers: { 'x-backend': 'yes' } })
    expect(partsOf(h.processor.seen)).toEqual(['requestHeaders+', 'responseHeaders'])
  })

  it('a processor that closes the stream instead of a response', async () => {
    h.processor.reset((_, { call }) => call.end())
    expect(await send(url('none'))).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    expect(await send(url('open-none'))).toMatchObject({ status: 200 })
    expect(await send(url('all'), { body: 'b' })).toMatchObject({ status: 500 })
  })

  it.each<[string, Reply[]]>([
    ['nothing', [{}]],
    ['what was not asked', [{ response: { case: 'responseHeaders', value: {} } }]],
    ['a body before headers', [{ response: { case: 'requestBody', value: {} } }]],
    ['trailers that there are none of', [{ response: { case: 'requestTrailers', value: {} } }]],
  ])('a processor that sends %s', async (_, replies) => {
    h.processor.reset((_request, talk) => replies.forEach((reply) => talk.reply(reply)))
    expect(await send(url('none'), { body: 'b' })).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    await noStreams()
  })

  it('a processor that responds to chunks as if they were whole bodies', async () => {
    h.processor.reset((request, talk) => {
      const { case: kind } = request.request
      talk.reply(kind === 'requestBody' ? whole(kind, 'x') : (unchanged(request) ?? {}))
    })
    expect(await send(url('all'), { body: 'b' })).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
  })
})

it('responses of the proxy itself are not processed', async () => {
  h.processor.reset(passing)
  expect(await send(url('local'))).toMatchObject({ status: 299, body: 'made here' })
  expect(partsOf(h.processor.seen)).toEqual(['requestHeaders+'])
  await noStreams()
})
