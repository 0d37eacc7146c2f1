// An address where connecting neither succeeds nor fails: a listener whose thread sleeps and whose queue is full. Linux
// drops further SYNs, so tests can have a connect timeout on loopback.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

export interface FullBacklog {
  readonly port: number
  stop(): Promise<void>
}

const LISTENER = `
const { createServer } = require('node:net')
const { parentPort } = require('node:worker_threads')
const server = createServer()
server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  // From here no connection is accepted: the thread sleeps until it is terminated.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
`
/** More than fit into a queue of length 1. */
const CONNECTIONS = 4

export async function fullBacklog(): Promise<FullBacklog> {
  const worker = new Worker(LISTENER, { eval: true })
  const [port] = (await once(worker, 'message')) as [number] // the script above sends its port
  const sockets: Socket[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
  }
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, 'connect')))
  return {
    port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await worker.terminate()
    },
  }
}
