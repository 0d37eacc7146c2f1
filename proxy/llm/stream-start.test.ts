// The held start of a stream: what is recognised, and that no byte of the stream changes.
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SentFormatName } from '#api/llm/formats.ts'
import { SENT_FORMATS } from './formats/table.ts'
import { FRAMES } from './frames.ts'
import { HELD_BYTES_MAX, HELD_MS_MAX, readStart, type StreamStart } from './stream-start.ts'
import { converseException, converseStream } from './translate/converse.testing.ts'
import { streamDecoder } from './translate/table.ts'
import { SCENARIOS, VENDORS } from './translate/vendors.testing.ts'

const SCENARIO = { text: 'hello', stop: 'stop', usage: { input: 3, cached: 0, output: 2 } } as const
const MEBIBYTE = 1024 * 1024

async function* arriving(chunks: Iterable<Buffer>, end?: Promise<void>): AsyncGenerator<Buffer, void> {
  for (const chunk of chunks) yield chunk
  await end
}

const bodyOf = (chunks: Iterable<Buffer>, end?: Promise<void>) =>
  Object.assign(arriving(chunks, end), { cancel: vi.fn<() => void>() })

function start(format: SentFormatName, body: ReturnType<typeof bodyOf>): Promise<StreamStart> {
  const decoder = streamDecoder(format)
  if (decoder === undefined) throw new Error(`${format} has no streams`)
  return readStart(body, { frames: FRAMES[SENT_FORMATS[format].frames].reader(MEBIBYTE), decoder })
}

async function rest({ body }: StreamStart): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const bytesOf = (frames: readonly string[]): Buffer => Buffer.from(frames.join(''))

const STREAMS: readonly (readonly [SentFormatName, Buffer])[] = [
  ...(['Completions', 'Messages', 'Responses', 'GenerateContent'] as const).flatMap((format) =>
    Object.values(SCENARIOS).map((scenario) => [format, bytesOf(VENDORS[format].stream(scenario))] as const),
  ),
  ...Object.values(SCENARIOS).map((scenario) => ['Converse', Buffer.concat(converseStream(scenario))] as const),
]

const named = (type: string, json: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...json })}\n\n`
const unnamed = (json: object): string => `data: ${JSON.stringify(json)}\n\n`
const [opened = ''] = VENDORS.Messages.stream(SCENARIO)
const [created = ''] = VENDORS.Responses.stream(SCENARIO)

afterEach(() => {
  vi.useRealTimers()
})

describe('a stream with content', () => {
  it.each(STREAMS)('of %s passes unchanged, in one chunk and byte by byte', async (format, bytes) => {
    for (const chunks of [[bytes], [...bytes].map((byte) => Buffer.from([byte]))]) {
      const started = await start(format, bodyOf(chunks))
      expect(started.error).toBeUndefined()
      expect((await rest(started)).equals(bytes)).toBe(true)
    }
  })

  it('is held no longer than up to its first content', async () => {
    const frames = VENDORS.Messages.stream(SCENARIO).map((frame) => Buffer.from(frame))
    let sent = 0
    const counted = (function* () {
      for (const frame of frames) {
        sent++
        yield frame
      }
    })()
    await start('Messages', bodyOf(counted))
    expect(String(frames[sent - 1])).toContain('content_block_start')
    expect(sent).toBe(3)
  })

  it('is cancelled with its source', async () => {
    const body = bodyOf([bytesOf(VENDORS.Messages.stream(SCENARIO))])
    const started = await start('Messages', body)
    started.body.cancel()
    expect(body.cancel).toHaveBeenCalledOnce()
  })
})

describe('an error is recognised', () => {
  it.each<readonly [SentFormatName, string | Buffer, kind: string]>([
    ['Completions', unnamed({ error: { message: 'm', type: 'server_error', code: 'busy' } }), 'api'],
    ['Completions', unnamed({ error: { message: 'm', type: 'requests', code: 'rate_limit_exceeded' } }), 'rateLimit'],
    ['Completions', unnamed({ error: { message: 'm', code: 429 } }), 'rateLimit'],
    ['Completions', unnamed({ error: { message: 'm', type: 'BadRequestError', code: 400 } }), 'invalidRequest'],
    ['Completions', unnamed({ error: 'm' }), 'api'],
    ['Completions', 'data: {"choices":[\n\n', 'api'],
    ['Messages', named('error', { error: { type: 'overloaded_error', message: 'm' } }), 'overloaded'],
    ['Messages', named('error', { error: { type: 'rate_limit_error', message: 'm' } }), 'rateLimit'],
    ['Messages', opened + named('ping', {}) + VENDORS.Messages.errorFrame('m'), 'overloaded'],
    ['Messages', `: comment\n\n${VENDORS.Messages.errorFrame('m')}`, 'overloaded'],
    ['Responses', VENDORS.Responses.errorFrame('m'), 'api'],
    ['Responses', named('error', { code: 'rate_limit_exceeded', message: 'm' }), 'rateLimit'],
    [
      'Responses',
      created +
        named('response.failed', {
          response: { id: 'r', status: 'failed', error: { code: 'server_error', message: 'm' }, output: [] },
        }),
      'api',
    ],
    ['GenerateContent', VENDORS.GenerateContent.errorFrame('m'), 'api'],
    ['GenerateContent', unnamed({ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } }), 'rateLimit'],
    ['Converse', converseException('throttlingException', 'm'), 'rateLimit'],
    ['Converse', converseException('serviceUnavailableException', 'm'), 'overloaded'],
    ['Converse', converseException('validationException', 'm'), 'invalidRequest'],
    [
      'Converse',
      Buffer.concat([...converseStream(SCENARIO).slice(0, 1), converseException('internalServerException', 'm')]),
      'api',
    ],
  ])('of %s: %s (%s)', async (format, text, kind) => {
    const bytes = Buffer.from(text)
    const started = await start(format, bodyOf([bytes]))
    expect(started.error?.kind).toBe(kind)
    expect((await rest(started)).equals(bytes)).toBe(true)
  })

  it('but not behind content', async () => {
    const frames = [...VENDORS.Messages.stream(SCENARIO).slice(0, 4), VENDORS.Messages.errorFrame('m')]
    expect((await start('Messages', bodyOf([bytesOf(frames)]))).error).toBeUndefined()
  })
})

describe('a stream is rejected', () => {
  it.each(['', ': comment\n\n', opened])('that ends without content: %j', async (text) => {
    await expect(start('Messages', bodyOf([Buffer.from(text)]))).rejects.toThrow('ended before its first content')
  })

  it('that breaks, or whose frames are not valid', async () => {
    const broken = Promise.reject(new Error('reset'))
    await expect(start('Messages', bodyOf([Buffer.from(opened)], broken))).rejects.toThrow('reset')
    await expect(start('Converse', bodyOf([Buffer.alloc(64, 1)]))).rejects.toThrow('event')
  })
})

describe('a stream is released', () => {
  it('after a limited number of bytes without content', async () => {
    const line = Buffer.from(`: ${'x'.repeat(1021)}\n`)
    const lines = Array.from({ length: 200 }, () => line)
    let sent = 0
    const counted = (function* () {
      for (const one of lines) {
        sent++
        yield one
      }
    })()
    const started = await start('Messages', bodyOf(counted))
    expect(sent * line.length).toBe(HELD_BYTES_MAX)
    expect((await rest(started)).equals(Buffer.concat(lines))).toBe(true)
  })

  it('after a limited time without content, and continues with the read that was not finished', async () => {
    vi.useFakeTimers()
    const { promise, resolve } = Promise.withResolvers<void>()
    let isReleased = false
    const starting = start('Messages', bodyOf([Buffer.from(opened)], promise)).then((started) => {
      isReleased = true
      return started
    })
    await vi.advanceTimersByTimeAsync(HELD_MS_MAX - 1)
    expect(isReleased).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isReleased).toBe(true)
    resolve()
    expect(String(await rest(await starting))).toBe(opened)
    expect(vi.getTimerCount()).toBe(0)
  })
})
