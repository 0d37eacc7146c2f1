// Keeps connections to backends free of clients that do not send: a call whose small body has not arrived takes none.
import { IncomingBody } from '../message/incoming-body.ts'
import type { UpstreamCall } from './call.ts'

/** A body that announces no more is waited for whole. */
export const SMALL_BODY_BYTES = 65_536
/** Announced bytes of all bodies that are waited for in a worker; beyond it bodies are passed on as they come. */
export const AWAITED_BYTES_MAX = 67_108_864

export class BodyQueue {
  #awaitedBytes = 0

  /** Bytes of the body that the call has to wait for before it takes a connection. */
  awaited(call: UpstreamCall): number {
    const { body } = call
    if (!(body instanceof IncomingBody) || !body.isOpen) return 0
    const bytes = bytesToAwait(call, body)
    return this.#awaitedBytes + bytes > AWAITED_BYTES_MAX ? 0 : bytes
  }

  /** Calls `go` once so many bytes are here, or the body has ended. A call whose body broke fails. */
  hold(call: UpstreamCall, bytes: number, go: () => void): void {
    const { body } = call
    if (!(body instanceof IncomingBody)) return
    this.#awaitedBytes += bytes
    body.awaitBytes(bytes, () => {
      this.#awaitedBytes -= bytes
      if (call.isSettled) return
      if (body.isFailed) call.failed('upstreamFailure', 'the client closed the connection before the backend answered')
      else go()
    })
  }
}

/** 0: none. One more than announced stands for the end of the body: more than announced never comes. */
function bytesToAwait(call: UpstreamCall, body: IncomingBody): number {
  const { length } = body
  if (!body.isUntouched) return 0
  if (length !== undefined && length <= SMALL_BODY_BYTES) return length + 1
  // The first bytes: a client that opens a stream may wait for the response before it sends anything.
  const isStream = length === undefined && call.isStreaming
  return isStream || body.heldBytes > 0 ? 0 : 1
}
