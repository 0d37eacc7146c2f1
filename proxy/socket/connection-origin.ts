// Where a connection really came from, when the source it is treated by is another one. Types only.
import type { HeaderList } from '../message/headers.ts'

export interface ConnectionOrigin {
  /** Of the socket. */
  readonly address: string
  readonly port: number
  /** Of the CONNECT that opened the tunnel. */
  readonly connectHeaders?: HeaderList
}
