// Keep-alive clients for tests: strict raw sockets that count every answer and every failure and never retry.
import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface LoadResult {
  /** Answers by body. */
  readonly answers: Map<string, number>
  /** What went wrong, one entry for each failed request. */
  readonly failures: string[]
  /** Connections the server ended by announcing it. */
  announcedCloses: number
}

export interface Load {
  readonly result: LoadResult
  /** Total of answers. */
  count(): number
  /** Ends after the running requests. */
  stop(): Promise<LoadResult>
  /** Resolves when all clients have ended by themselves. */
  readonly ended: Promise<unknown>
}

export interface LoadOptions {
  readonly port: number
  readonly clients: number
  readonly path?: string
  /** After an announced close: connect again, or end. */
  readonly reconnects: boolean
}

export function startLoad(options: LoadOptions): Load {
  const result: LoadResult = { answers: new Map(), failures: [], announcedCloses: 0 }
  const state = { isStopped: false }
  const ended = Promise.all(Array.from({ length: options.clients }, () => runClient(options, result, state)))
  return {
    result,
    ended,
    count: () => [...result.answers.values()].reduce((sum, n) => sum + n, 0),
    async stop() {
      state.isStopped = true
      await ended
      return result
    },
  }
}

async function runClient(options: LoadOptions, result: LoadResult, state: { isStopped: boolean }): Promise<void> {
  let socket: Socket | undefined
  while (!state.isStopped) {
    try {
      socket ??= await open(options.port)
      const { body, isLast } = await request(socket, options.path ?? '/')
      result.answers.set(body, (result.answers.get(body) ?? 0) + 1)
      if (!isLast) continue
      result.announcedCloses++
      socket.destroy()
      socket = undefined
      if (!options.reconnects) return
    } catch (error) {
      result.failures.push(String(error))
      socket?.destroy()
      socket = undefined
      if (!options.reconnects) return
    }
  }
  socket?.destroy()
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

/** One request; rejects when the connection ends before the answer is whole. */
export function request(socket: Socket, path: string): Promise<{ status: number; body: string; isLast: boolean }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const done = (settle: () => void): void => {
      socket.off('data', onData)
      socket.off('close', onClose)
      settle()
    }
    const onClose = (): void => done(() => reject(new Error(`connection closed after ${text.length} bytes`)))
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      const headEnd = text.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const head = text.slice(0, headEnd).toLowerCase()
      const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0)
      const body = text.slice(headEnd + 4)
      if (body.length < length) return
      done(() => resolve({ status: Number(head.slice(9, 12)), body, isLast: head.includes('connection: close') }))
    }
    socket.on('data', onData)
    socket.once('close', onClose)
    socket.write(`GET ${path} HTTP/1.1\r\nhost: test.example\r\n\r\n`)
  })
}

/** Sends one request on a connection of its own. */
export async function once(port: number, path = '/'): Promise<{ status: number; body: string }> {
  const socket = await open(port)
  try {
    return await request(socket, path)
  } finally {
    socket.destroy()
  }
}
