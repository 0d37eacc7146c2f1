// Events of a stream, whatever frames them: text/event-stream, or the event streams of AWS.
import { EventStreamReader, type StreamMessage } from '../http/event-stream.ts'
import { type SseEvent, SseParser } from '../http/sse.ts'
import type { SentFormat } from './formats/format.ts'

export interface FrameReader {
  /** Throws when an event is malformed, or larger than the limit: nothing after it can be read. */
  push(chunk: Buffer): readonly SseEvent[]
}

interface Frames {
  /** Of the media type. */
  readonly contentType: RegExp
  reader(eventBytesMax: number): FrameReader
}

export const FRAMES: { readonly [F in SentFormat['frames']]: Frames } = {
  Sse: {
    contentType: /^\s*text\/event-stream\s*(?:;|$)/i,
    reader: (eventBytesMax) => new SseParser(eventBytesMax),
  },
  AwsEventStream: {
    contentType: /^\s*application\/vnd\.amazon\.eventstream\s*(?:;|$)/i,
    reader(eventBytesMax) {
      const reader = new EventStreamReader(eventBytesMax)
      return { push: (chunk) => reader.push(chunk).map(eventOf) }
    },
  },
}

/** The kind of a message is in its headers. A failure of the service itself has no body. */
function eventOf({ headers, payload }: StreamMessage): SseEvent {
  const text = payload.toString('utf8')
  const type = headers.get(':message-type')
  if (type === 'exception') return { event: headers.get(':exception-type') ?? 'error', data: text }
  if (type !== 'error') return { event: headers.get(':event-type') ?? '', data: text }
  const message = headers.get(':error-message') ?? headers.get(':error-code')
  return { event: 'error', data: JSON.stringify({ message }) }
}
