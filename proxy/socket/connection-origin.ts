// The real origin of a connection whose source address comes from elsewhere. Types only.
import type { HeaderList } from '../message/headers.ts'

export interface ConnectionOrigin {
  /** The address of the socket. */
  readonly address: string
  readonly port: number
  /** The address of the CONNECT request that opened the tunnel. */
  readonly connectHeaders?: HeaderList
}
