import { describe, expect, it } from 'vitest'
import { IncomingBody, type BodySource } from '../message/incoming-body.ts'
import { BodyRecorder, recordedStream, type BodyRecord } from './recorded-body.ts'
import { madeStream } from '../message/made-stream.ts'

function recorder(bytesMax = 100): { recorder: BodyRecorder; records: BodyRecord[] } {
  const records: BodyRecord[] = []
  return { recorder: new BodyRecorder(bytesMax, (record) => records.push(record)), records }
}

const SOURCE: BodySource = { pauseBody() {}, resumeBody() {}, cancelBody() {} }

function push(body: IncomingBody, text: string): void {
  const bytes = Buffer.from(`..${text}..`)
  body.push(bytes, 2, bytes.length - 2)
  body.settle()
  // As the read buffer of a socket.
  bytes.fill('x')
}

describe('BodyRecorder', () => {
  it.each([
    [5, 'abcde', true],
    [6, 'abcdef', false],
    [3, 'abc', true],
    [0, '', true],
  ])('keeps %i bytes and reports once', (bytesMax, kept, isTruncated) => {
    const { recorder: own, records } = recorder(bytesMax)
    own.seen(Buffer.from('abc'), 0, 3)
    own.seen(Buffer.from('xdefx'), 1, 4)
    own.over()
    own.seen(Buffer.from('late'), 0, 4)
    own.over()
    expect(records).toEqual([{ bytes: Buffer.from(kept), isTruncated }])
  })
})

describe('an observed body of a connection', () => {
  it('is recorded from its beginning, whatever was read of it', async () => {
    const body = new IncomingBody(SOURCE, undefined)
    push(body, 'ab')
    const { recorder: own, records } = recorder()
    body.observe(own)
    push(body, 'cd')
    const collected = body.collect(100)
    push(body, 'ef')
    expect(records).toEqual([])
    body.end()
    expect((await collected).toString()).toBe('abcdef')
    expect(records).toEqual([{ bytes: Buffer.from('abcdef'), isTruncated: false }])
  })

  it('is recorded when it is here as a whole, and still sent with its head', () => {
    const body = new IncomingBody(SOURCE, 2)
    body.push(Buffer.from('ab'), 0, 2)
    body.end()
    const { recorder: own, records } = recorder()
    body.observe(own)
    expect(records).toEqual([{ bytes: Buffer.from('ab'), isTruncated: false }])
    expect(body.takeWhole(100)).toBe('ab')
  })

  it.each([
    ['breaks', (body: IncomingBody) => body.fail(new Error('broken'))],
    ['is not wanted any more', (body: IncomingBody) => body.cancel()],
  ])('is reported up to its last byte when it %s', (_, finish) => {
    const body = new IncomingBody(SOURCE, undefined)
    const { recorder: own, records } = recorder()
    body.observe(own)
    push(body, 'ab')
    finish(body)
    expect(records).toEqual([{ bytes: Buffer.from('ab'), isTruncated: false }])
  })
})

describe('recordedStream', () => {
  it('reads only when its reader does, and reports at the end', async () => {
    const { recorder: own, records } = recorder()
    let asked = 0
    const source = (async function* () {
      for (const text of ['ab', 'cd']) {
        asked++
        yield Buffer.from(text)
      }
    })()
    const stream = recordedStream(
      madeStream(source, () => {}),
      own,
    )[Symbol.asyncIterator]()
    expect(asked).toBe(0)
    expect((await stream.next()).value?.toString()).toBe('ab')
    expect([asked, records]).toEqual([1, []])
    await stream.next()
    await stream.next()
    expect(records).toEqual([{ bytes: Buffer.from('abcd'), isTruncated: false }])
  })

  it('reports the forwarded bytes when its reader stops or its source fails, and stops the source', async () => {
    let isStopped = false
    const source = async function* (isBroken: boolean) {
      try {
        yield Buffer.from('ab')
        if (isBroken) throw new Error('broken')
        yield Buffer.from('cd')
      } finally {
        isStopped = true
      }
    }
    const left = recorder()
    for await (const chunk of recordedStream(
      madeStream(source(false), () => {}),
      left.recorder,
    ))
      if (chunk.length > 0) break
    expect([left.records[0]?.bytes.toString(), isStopped]).toEqual(['ab', true])
    const broken = recorder()
    const stream = recordedStream(
      madeStream(source(true), () => {}),
      broken.recorder,
    )[Symbol.asyncIterator]()
    await stream.next()
    await expect(stream.next()).rejects.toThrow('broken')
    expect(broken.records[0]?.bytes.toString()).toBe('ab')
  })

  it('passes on its cancellation and its length', async () => {
    let isStopped = false
    const source = {
      length: 4,
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: true as const, value: undefined }),
      }),
      cancel() {
        isStopped = true
      },
    }
    const { recorder: own, records } = recorder()
    const stream = recordedStream(source, own)
    expect(stream).toHaveProperty('length', 4)
    stream.cancel()
    expect([isStopped, records.length]).toEqual([true, 1])
  })
})
