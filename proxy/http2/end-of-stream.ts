// Whether the peer itself said that its body is complete (END_STREAM). node ends the readable side in the same way
// when a connection is lost or a stream reset without an error, and a body cut short must not look whole.
import type { Http2Stream } from 'node:http2'

export interface EndOfStream {
  readonly hasEnded: boolean
}

/** To be called before the stream can have been closed: while its request is made, or when its head arrived. */
export function watchEnd(stream: Http2Stream): EndOfStream {
  // END_STREAM may have arrived already: heads are reported only after the read that contained them.
  const end = { hasEnded: !stream.pending && !stream.closed && stream.state.remoteClose === 1 }
  const push = stream.push.bind(stream)
  // END_STREAM ends the readable side before the stream is marked closed; everything else does so after.
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null && !stream.closed && !stream.destroyed) end.hasEnded = true
    return push(chunk, encoding)
  }
  return end
}
