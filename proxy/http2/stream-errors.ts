// Keeps an HTTP/2 session whose peer broke one stream. node:http2 destroys the session for every protocol error that
// its library reports, though some are errors of a stream that the library has answered with RST_STREAM already
// (DATA beyond content-length, RFC 9113 section 8.1.1).
import { constants, type Http2Session } from 'node:http2'

/** NGHTTP2_ERR_PROTO: reported for errors of a stream and of the connection alike. */
const PROTOCOL_ERRNO = -505
/**
 * By then the stream at fault has closed, or the connection is at fault: the library has sent its GOAWAY and reads no
 * more.
 */
export const BLAME_MS = 100

export class StreamErrors {
  readonly #destroy: Http2Session['destroy']
  /** Errors for which no stream has closed yet. */
  #unexplained = 0
  #timer: NodeJS.Timeout | undefined = undefined

  constructor(session: Http2Session) {
    this.#destroy = session.destroy.bind(session)
    session.destroy = (error, code) => {
      if (isProtocolError(error)) this.#suspect(error)
      else this.#end(error, code)
    }
  }

  /** A stream has closed. */
  closed(rstCode: number | undefined): void {
    if (rstCode === constants.NGHTTP2_PROTOCOL_ERROR && this.#unexplained > 0) this.#unexplained--
  }

  #suspect(error: Error): void {
    this.#unexplained++
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#unexplained > 0) this.#end(error)
    }, BLAME_MS).unref()
  }

  #end(error?: Error, code?: number): void {
    clearTimeout(this.#timer)
    this.#destroy(error, code)
  }
}

function isProtocolError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error && error.errno === PROTOCOL_ERRNO
}
