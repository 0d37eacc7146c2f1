// Allowed and forbidden changes of headers by a processor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../http/server.testing.ts'
import { send, startHarness, type Harness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import { BUFFERED, NO_BODIES, empty, headers, passing, scripted, type Reply } from './processor.testing.ts'

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
      'open-none': { extProc: { failureMode: 'FailOpen', processingOptions: NO_BODIES } },
    },
  })
})
afterAll(() => h.stop())

const url = (path: string): string => `${h.proxy.url}/${path}`
const noStreams = (): Promise<void> => until(() => h.processor.open === 0, 'the end of all streams')

describe('headers', () => {
  it.each(['none', 'all', 'buffered'])('change request and response (%s)', async (route) => {
    const request = {
      ':path': '/other?y=2',
      ':authority': 'other.example',
      ':method': 'PUT',
      'x-new': 'n',
      'X-Old': 'set',
    }
    h.processor.reset(
      scripted(
        {
          requestHeaders: headers('requestHeaders', request, { remove: ['x-gone', ':path', 'host', 'content-length'] }),
          responseHeaders: headers('responseHeaders', { ':status': '202', 'x-answer': 'a' }, { remove: ['x-backend'] }),
        },
        route === 'all' ? passing : empty,
      ),
    )
    const got = await send(url(`${route}?x=1`), { body: 'b', headers: { 'x-old': ['1', '2'], 'x-gone': 'g' } })
    expect(got).toMatchObject({ status: 202, body: 'echo:b', headers: { 'x-answer': 'a' } })
    expect(got.headers['x-backend']).toBeUndefined()
    const seen = h.received.at(-1)
    expect(seen).toMatchObject({ method: 'PUT', path: '/other?y=2', body: 'b' })
    expect(seen?.headers).toMatchObject({ host: 'other.example', 'x-new': 'n', 'x-old': 'set' })
    expect(seen?.headers['x-gone']).toBeUndefined()
  })

  it('without a question mark the path has no query', async () => {
    h.processor.reset(scripted({ requestHeaders: headers('requestHeaders', { ':path': '/bare' }) }))
    await send(url('none?x=1'))
    expect(h.received.at(-1)?.path).toBe('/bare')
  })

  it.each([
    ['set, where nothing is said', {}, ['n']],
    ['append', { append: true }, ['o', 'n']],
    ['append_action 0 as set', { appendAction: 0 }, ['n']],
    ['add if absent', { appendAction: 1 }, ['o']],
    ['overwrite', { appendAction: 2 }, ['n']],
    ['overwrite if present', { appendAction: 3 }, ['n']],
    ['append false before the action', { append: false, appendAction: 1 }, ['n']],
  ])('%s', async (_, how, expected) => {
    const setHeaders = [{ header: { key: 'x-h', value: 'n' }, ...how }]
    h.processor.reset(
      scripted({
        requestHeaders: {
          response: { case: 'requestHeaders', value: { response: { headerMutation: { setHeaders } } } },
        } as Reply,
      }),
    )
    await send(url('none'), { headers: { 'x-h': 'o' } })
    expect(h.received.at(-1)?.headers['x-h']).toBe(expected.join(', '))
  })

  it.each([
    ['an invalid name', { 'not a name': 'v' }],
    ['no name', { '': 'v' }],
    ['a value that breaks the message', { 'x-a': 'a\r\nx-b: b' }],
    ['a control character', { 'x-a': 'a\u0000' }],
    ['an invalid path', { ':path': 'no slash' }],
    ['an invalid host', { ':authority': 'a b' }],
    ['an invalid method', { ':method': 'G T' }],
    ['a tunnel', { ':method': 'CONNECT' }],
    ['an invalid scheme', { ':scheme': 'ftp' }],
    ['a pseudo-header of responses', { ':status': '200' }],
    ['an unknown pseudo-header', { ':x': '1' }],
    ['an invalid length', { 'content-length': '-1' }],
    ['too many fields', Object.fromEntries(Array.from({ length: 300 }, (__, i) => [`x-${i}`, 'v']))],
    ['too many bytes', { 'x-a': 'a'.repeat(140_000) }],
  ])('rejects %s, and ignores the whole response', async (_, set) => {
    const count = h.received.length
    h.processor.reset(scripted({ requestHeaders: headers('requestHeaders', { 'x-first': 'yes', ...set }) }))
    expect(await send(url('none'))).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
    expect(h.received).toHaveLength(count)
    h.processor.reset(scripted({ requestHeaders: headers('requestHeaders', { 'x-first': 'yes', ...set }) }))
    expect(await send(url('open-none'))).toMatchObject({ status: 200 })
    expect(h.received.at(-1)?.headers['x-first']).toBeUndefined()
    await noStreams()
  })

  it('does not change framing', async () => {
    const set = { connection: 'close', 'transfer-encoding': 'gzip', upgrade: 'x', trailer: 't', 'keep-alive': '1' }
    h.processor.reset(
      scripted({ requestHeaders: headers('requestHeaders', set), responseHeaders: headers('responseHeaders', set) }),
    )
    const got = await send(url('none'), { body: 'b' })
    expect(got).toMatchObject({ status: 200, body: 'echo:b' })
    expect(h.received.at(-1)?.headers).toMatchObject({ 'content-length': '1' })
    expect(h.received.at(-1)?.headers['transfer-encoding']).toBeUndefined()
    expect(got.headers['upgrade']).toBeUndefined()
  })

  it.each([
    ['an invalid status', { ':status': '99' }],
    ['a pseudo-header of requests', { ':path': '/' }],
  ])('rejects %s in a response', async (_, set) => {
    h.processor.reset(scripted({ responseHeaders: headers('responseHeaders', set) }))
    expect(await send(url('none'))).toMatchObject({ status: 500, body: EXT_PROC_FAILED })
  })
})
