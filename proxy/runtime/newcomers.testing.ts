// A connection that never ends, and clients that continue to connect, for tests of shutdown. Not used by the proxy.
import { createServer } from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { closeServer, listening } from '#test/ports.ts'

const DEADLINE_MS = 20_000
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'

/** Answers requests, and gives back what comes after a switch of protocols. */
export async function echoWebSocket(): Promise<{ readonly port: number; stop(): void }> {
  const server = createServer((_request, response) => response.end('ok'))
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => undefined)
    socket.write(SWITCHED)
    socket.pipe(socket)
  })
  const port = await listening(server)
  return { port, stop: () => closeServer(server) }
}

export async function openWebSocket(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    'GET /ws HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  const head = await next(socket)
  if (!head.startsWith('HTTP/1.1 101')) throw new Error(`no switch: ${head}`)
  return socket
}

/** What comes back. */
export function echoed(socket: net.Socket): Promise<string> {
  const answer = next(socket)
  socket.write('ping')
  return answer
}

function next(socket: net.Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('nothing came')), DEADLINE_MS)
    socket.once('data', (chunk) => {
      clearTimeout(timer)
      resolve(chunk.toString('latin1'))
    })
    socket.once('close', () => {
      clearTimeout(timer)
      reject(new Error('the connection was closed'))
    })
  })
}

export interface Newcomers {
  readonly answers: number
  /** Of clients that had a connection. */
  readonly failures: readonly string[]
  readonly refusedAfterMs: number
}

/** One client after the other, each with a connection of its own, until the port is closed. */
export async function askUntilRefused(port: number): Promise<Newcomers> {
  const start = performance.now()
  const failures: string[] = []
  let answers = 0
  while (performance.now() - start < DEADLINE_MS) {
    const outcome = await askOnce(port)
    if (outcome === 'refused') return { answers, failures, refusedAfterMs: performance.now() - start }
    if (outcome === 'answered') answers++
    else failures.push(outcome)
    await delay(5)
  }
  throw new Error('the port is still open')
}

function askOnce(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    let isConnected = false
    const socket = net.connect(port, '127.0.0.1', () => {
      isConnected = true
      socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    })
    socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', (error) => resolve(isConnected ? error.message : 'refused'))
    socket.on('close', () => resolve(text.startsWith('HTTP/1.1 200') ? 'answered' : `cut: ${text.slice(0, 40)}`))
  })
}
