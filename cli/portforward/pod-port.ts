// Streams to a port of a pod, and commands in it, over WebSockets of the Kubernetes API server.
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Duplex, PassThrough, Writable } from 'node:stream'
import { Exec, type KubeConfig, PortForward } from '@kubernetes/client-node'
import { messageOf } from '#proxy/exchange/diagnosis.ts'

export interface Pod {
  readonly namespace: string
  readonly name: string
}

const COMMAND_MS_MAX = 30_000
const COMMAND_OUTPUT_CHARACTERS_MAX = 64 * 1024

/** @throws {Error} with the reason, if the API server rejects the connection */
export async function openPort(config: KubeConfig, { namespace, name }: Pod, port: number): Promise<Duplex> {
  const [output, input, refusal] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const stream = Duplex.from({ readable: output, writable: input })
  refusal.once('data', (text: Buffer) => stream.destroy(new Error(text.toString('utf8').trim())))
  // Until the caller adds its listener, no error may be thrown: `errored` keeps it.
  stream.on('error', () => undefined)
  const connecting = new PortForward(config).portForward(namespace, name, [port], output, refusal, input)
  const socket = await connected(connecting, `forward port ${port} of the pod ${namespace}/${name}`)
  // Without retries it is the socket itself.
  if (typeof socket === 'function') throw new Error('the client of the API server reconnects')
  const failure = stream.errored
  if (failure !== null) {
    socket.close()
    throw failure
  }
  // The library reports the end of the connection to no stream.
  socket.onclose = () => output.end()
  stream.once('close', () => socket.close())
  return stream
}

/**
 * Forwards connections to a port of this machine while `use` runs. A connection that fails is closed, as by a server
 * that refuses it.
 */
export async function withForwardedPort<T>(
  open: () => Promise<Duplex>,
  use: (localPort: number) => Promise<T>,
): Promise<T> {
  let failure: Error | undefined
  const streams = new Set<Duplex>()
  const server = createServer((socket) => {
    streams.add(socket)
    socket.on('error', () => socket.destroy())
    open().then(
      (onward) => {
        streams.add(onward)
        onward.on('error', (error) => {
          failure = error
          socket.destroy()
        })
        socket.on('close', () => onward.destroy())
        socket.pipe(onward).pipe(socket)
      },
      (error: unknown) => {
        failure = new Error(messageOf(error), { cause: error })
        socket.destroy()
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await use((server.address() as AddressInfo).port) // a TCP server that listens
  } catch (error) {
    throw failure ?? error
  } finally {
    server.close()
    for (const stream of streams) stream.destroy()
  }
}

/** Standard output of a command in a container of a pod. @throws {Error} with the reason, or its standard error */
export async function outputOf(
  config: KubeConfig,
  { namespace, name }: Pod,
  { container, command }: { readonly container: string; readonly command: readonly string[] },
): Promise<string> {
  const [output, problems] = [new TextSink(), new TextSink()]
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status?: string; readonly message?: string }>()
  const action = `run a command in the pod ${namespace}/${name}`
  const timer = setTimeout(() => reject(new Error(`cannot ${action}: timed out`)), COMMAND_MS_MAX)
  try {
    const socket = await connected(
      new Exec(config).exec(namespace, name, container, [...command], output, problems, null, false, resolve),
      action,
    )
    socket.onclose = () => reject(new Error(`cannot ${action}: the API server closed the connection`))
    try {
      const { status, message = 'the command failed' } = await promise
      if (status === 'Success') return output.text
      throw new Error(`cannot ${action}: ${problems.text.trim() === '' ? message : problems.text.trim()}`)
    } finally {
      socket.close()
    }
  } finally {
    clearTimeout(timer)
  }
}

class TextSink extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.text.length < COMMAND_OUTPUT_CHARACTERS_MAX) this.text += chunk.toString('utf8')
    done()
  }
}

/** The library rejects with an event, whose message has the status. */
async function connected<T>(socket: Promise<T>, action: string): Promise<T> {
  try {
    return await socket
  } catch (error) {
    const reason =
      typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
    const cure = CURES.find(([status]) => reason.endsWith(status))?.[1]
    throw new Error(`cannot ${action}: ${cure ?? reason}`, { cause: error })
  }
}

const CURES = [
  ['response: 403', 'the API server forbids it; the Role of the user needs `create` of pods/portforward and pods/exec'],
  ['response: 401', 'the API server does not accept the credential of the context'],
  ['response: 404', 'the pod does not exist'],
] as const
