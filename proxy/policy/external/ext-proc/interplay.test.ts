// External processing with retries, whole bodies and conditions, and its cost where it is not selected.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { POLICY, send, startHarness, type Harness } from '#proxy/policy/external/ext-proc/proxy.testing.ts'
import { until } from '../../../http/server.testing.ts'
import { headers, immediate, partsOf, passing, piece, scripted } from './processor.testing.ts'

let h: Harness
/** Requests that the backend answers with 503. */
let refusals = 0

beforeAll(async () => {
  const retry = { attempts: 2, codes: [503] }
  h = await startHarness({
    timeoutMs: 2000,
    backend(request, response) {
      if (refusals === 0) return false
      refusals--
      request.resume().on('end', () => response.writeHead(503).end('busy'))
      return true
    },
    routes: {
      retry: { inline: { retry } },
      buffer: { inline: { buffer: { request: { failureMode: 'FailClosed', bytesMax: 10 } } } },
      choice: {
        inline: {
          extProc: {
            conditional: [
              { condition: 'request.headers["x-kind"] == "a"', policy: POLICY },
              {
                condition: 'request.headers["nowhere"] == "b"',
                policy: { ...POLICY, service: { backend: 'ns/absent' } },
              },
              {
                condition: 'request.method == "PUT"',
                policy: { ...POLICY, processingOptions: { requestBodyMode: 'None', responseBodyMode: 'None' } },
              },
            ],
          },
        },
      },
    },
  })
})
afterAll(() => h.stop())

const noStreams = (): Promise<void> => until(() => h.processor.open === 0, 'the end of all streams')

it('a retry sends the processed request, and only the last response is processed', async () => {
  refusals = 2
  h.processor.reset(
    scripted({
      requestHeaders: headers('requestHeaders', { 'x-processed': 'once' }),
      requestBody: piece('requestBody', Buffer.from('processed'), true),
    }),
  )
  const got = await send(`${h.proxy.url}/retry`, { body: 'sent' })
  expect(got).toMatchObject({ status: 200, body: 'echo:processed' })
  expect(h.received.at(-1)?.headers).toMatchObject({ 'x-processed': 'once', 'x-retry-attempt': '2' })
  expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody+', 'responseHeaders', 'responseBody+'])
  await noStreams()
})

it('a processor that rejects after the headers is not retried', async () => {
  h.processor.reset(scripted({ requestBody: immediate({ status: { code: 403 }, body: Buffer.from('no') }) }))
  const count = h.received.filter(({ isComplete }) => isComplete).length
  expect(await send(`${h.proxy.url}/retry`, { body: 'sent' })).toMatchObject({ status: 403, body: 'no' })
  expect(h.received.filter(({ isComplete }) => isComplete)).toHaveLength(count)
  await noStreams()
})

it('a body that is too large for a buffer is not sent', async () => {
  h.processor.reset(passing)
  expect((await send(`${h.proxy.url}/buffer`, { body: 'x'.repeat(11) })).status).toBe(413)
  expect(h.processor.calls).toEqual([])
  expect(await send(`${h.proxy.url}/buffer`, { body: 'x' })).toMatchObject({ status: 200, body: 'echo:x' })
})

it('the first condition that is true applies to both sides', async () => {
  h.processor.reset(passing)
  const url = `${h.proxy.url}/choice`
  expect(await send(url, { body: 'b', headers: { 'x-kind': 'a' } })).toMatchObject({ status: 200, body: 'echo:b' })
  expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'requestBody+', 'responseHeaders', 'responseBody+'])
  h.processor.reset(passing)
  expect(await send(url, { method: 'PUT', body: 'b' })).toMatchObject({ status: 200, body: 'echo:b' })
  expect(partsOf(h.processor.seen)).toEqual(['requestHeaders', 'responseHeaders'])
  h.processor.reset(passing)
  expect(await send(url, { body: 'b' })).toMatchObject({ status: 200, body: 'echo:b' })
  expect(h.processor.calls).toEqual([])
})
