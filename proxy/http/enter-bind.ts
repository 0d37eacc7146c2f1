// How a part of the proxy hands a connection to another port of the same worker.
import type net from 'node:net'
import type { ConnectionFacts } from '../socket/connection-facts.ts'

/** False: no such port is open, and the connection is unused. */
export type EnterBind = (port: number, socket: net.Socket, facts: ConnectionFacts) => boolean
