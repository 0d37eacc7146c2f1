// The opening handshake of WebSocket over HTTP/1.1 (RFC 6455 section 4): the key of a client and the server's response.
// HTTP/2 has neither (RFC 8441 section 5), so they are created and checked at the boundary.
import { createHash, randomBytes } from 'node:crypto'

export const WEBSOCKET = 'websocket'
export const KEY_FIELD = 'sec-websocket-key'
export const ACCEPT_FIELD = 'sec-websocket-accept'

const KEY_BYTES = 16
/** RFC 6455 section 1.3. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export function webSocketKey(): string {
  return randomBytes(KEY_BYTES).toString('base64')
}

/** The value that a server returns for the key. */
export function webSocketAccept(key: string): string {
  return createHash('sha1')
    .update(key + MAGIC)
    .digest('base64')
}
