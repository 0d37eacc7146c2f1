// One conversation over TCP or TLS: send a text, read until it has come back.
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

const TIMEOUT_MS = 10_000

export interface TcpQuestion {
  readonly host: string
  readonly port: number
  /** With a server name the conversation is inside TLS. */
  readonly serverName?: string
  readonly send: string
}

export async function talkTcp({ host, port, serverName, send }: TcpQuestion): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const socket =
    serverName === undefined
      ? connect({ host, port })
      : connectTls({ host, port, servername: serverName, rejectUnauthorized: false })
  let received = ''
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`timeout after ${JSON.stringify(received)}`)))
  socket.setEncoding('utf8')
  socket.on('error', (error) => resolve({ error: error.message }))
  socket.on('close', () => resolve({ error: `closed after ${JSON.stringify(received)}` }))
  socket.on('data', (chunk: string) => {
    received += chunk
    if (!received.includes(send)) return
    resolve({ received })
    socket.destroy()
  })
  socket.write(send)
  return promise
}
