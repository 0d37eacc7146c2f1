import { describe, expect, it } from 'vitest'
import { IncomingBody } from './incoming-body.ts'
import { RelayedStream, type RelayWatcher } from './relayed-stream.ts'

class Peer {
  readonly calls: string[] = []
  pauseBody(): void {
    this.calls.push('pause')
  }
  resumeBody(): void {
    this.calls.push('resume')
  }
  cancelBody(): void {
    this.calls.push('cancel')
  }
}

function relayed(watched: Partial<RelayWatcher> = {}) {
  const peer = new Peer()
  const source = new IncomingBody(peer, undefined)
  const seen: string[] = []
  const watcher: RelayWatcher = {
    seen: (buffer, start, end) => void seen.push(buffer.toString('utf8', start, end)),
    over: () => void seen.push('ended'),
    failed: (error) => Buffer.from(error instanceof Error ? error.message : ''),
    ...watched,
  }
  const stream = new RelayedStream(source, watcher)
  const sent: string[] = []
  const sink = {
    hasRoom: true,
    bodyChunk(buffer: Buffer, start: number, end: number): boolean {
      sent.push(buffer.toString('utf8', start, end))
      return sink.hasRoom
    },
    bodyEnd: () => void sent.push('end'),
    bodyError: () => void sent.push('error'),
  }
  return { peer, source, stream, seen, sent, sink }
}

function push(source: IncomingBody, text: string): void {
  const bytes = Buffer.from(text)
  source.push(bytes, 0, bytes.length)
  source.settle()
  bytes.fill('?')
}

describe('RelayedStream', () => {
  it('forwards each chunk during the call that brings it', () => {
    const { source, stream, seen, sent, sink } = relayed()
    stream.body.pipeTo(sink)
    push(source, 'one')
    expect(sent).toEqual(['one'])
    push(source, 'two')
    source.end()
    expect(sent).toEqual(['one', 'two', 'end'])
    expect(seen).toEqual(['one', 'two', 'ended'])
  })

  it('copies bytes that have no reader yet, and pauses the source until there is one', () => {
    const { peer, source, stream, sent, sink } = relayed()
    push(source, 'one')
    expect(peer.calls.at(-1)).toBe('pause')
    stream.body.pipeTo(sink)
    expect(sent).toEqual(['one'])
    expect(peer.calls.at(-1)).toBe('resume')
  })

  it('offers a stream that has arrived whole as one text', () => {
    const { source, stream } = relayed()
    push(source, 'one')
    push(source, 'two')
    source.end()
    expect(stream.body.takeWhole(6)).toBe('onetwo')
  })

  it('pauses the source while the sink is full', () => {
    const { peer, source, stream, sink } = relayed()
    stream.body.pipeTo(sink)
    sink.hasRoom = false
    push(source, 'one')
    expect(peer.calls.at(-1)).toBe('pause')
    stream.body.resume()
    expect(peer.calls.at(-1)).toBe('resume')
  })

  it('ends with the bytes of the watcher if the source fails', () => {
    const { source, stream, sent, sink } = relayed()
    stream.body.pipeTo(sink)
    push(source, 'one')
    source.fail(new Error('broken'))
    expect(sent).toEqual(['one', 'broken', 'end'])
  })

  it('ends with the bytes of the watcher, and cancels the source, if the watcher throws', () => {
    const seen = (): void => {
      throw new Error('bug')
    }
    const { peer, source, stream, sent, sink } = relayed({ seen })
    stream.body.pipeTo(sink)
    push(source, 'one')
    push(source, 'two')
    expect(sent).toEqual(['bug', 'end'])
    expect(peer.calls).toContain('cancel')
  })

  it('cancels the source with the stream', () => {
    const { peer, stream } = relayed()
    stream.cancel()
    expect(peer.calls).toContain('cancel')
  })

  it('can be iterated', async () => {
    const { source, stream } = relayed()
    push(source, 'one')
    source.end()
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    expect(text).toBe('one')
  })
})
