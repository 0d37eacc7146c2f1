// An API server for tests of commands that reach pods: it lists pods, forwards their ports and runs commands in them
// with the protocols of Kubernetes over WebSockets.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect } from 'node:net'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { closeServer, listening } from '#test/ports.ts'

export interface TestPod {
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** Port of the pod to the port of this machine that takes its place. */
  readonly ports: ReadonlyMap<number, number>
  readonly phase?: string
  /** Variables of its container. */
  readonly env?: readonly string[]
  /** Standard output of its commands; undefined: commands are forbidden. */
  readonly output?: string
}

export interface TestApiServer {
  readonly kubeconfig: string
  /** Commands in pods, as `pod: command`. */
  readonly commands: string[]
  close(): void
}

interface ApiState {
  readonly pods: readonly TestPod[]
  /** Path to object, for Services and workloads. */
  readonly objects: Readonly<Record<string, unknown>>
}

const BEARER = 'token-of-the-test'

/** Content of `kubeconfig`: a file for KUBECONFIG, whose context has the namespace `shop`. */
export async function startApiServer({ pods, objects }: ApiState): Promise<TestApiServer> {
  const commands: string[] = []
  const server = createServer((request, response) => {
    const { status, body } = answerTo(request, { pods, objects })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  serveSockets(server, pods, commands)
  const port = await listening(server)
  return {
    kubeconfig: JSON.stringify({
      clusters: [{ name: 'dev', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'me', user: { token: BEARER } }],
      contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'me', namespace: 'shop' } }],
      'current-context': 'dev',
    }),
    commands,
    close: () => closeServer(server),
  }
}

function answerTo(request: IncomingMessage, { pods, objects }: ApiState): { status: number; body: unknown } {
  const url = new URL(request.url ?? '', 'http://localhost')
  if (request.headers.authorization !== `Bearer ${BEARER}`) return refusal(401, 'Unauthorized')
  const [, namespace, name] = /^\/api\/v1(?:\/namespaces\/([^/]+))?\/pods(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  if (!url.pathname.includes('/pods')) {
    const object = objects[url.pathname]
    return object === undefined ? refusal(404, `${url.pathname} not found`) : { status: 200, body: object }
  }
  const inNamespace = pods.filter((pod) => namespace === undefined || pod.namespace === namespace)
  if (name !== undefined) {
    const pod = inNamespace.find((one) => one.name === name)
    return pod === undefined ? refusal(404, `pods "${name}" not found`) : { status: 200, body: objectOf(pod) }
  }
  const wanted = (url.searchParams.get('labelSelector') ?? '').split(',').map((term) => term.split('='))
  const matching = inNamespace.filter(({ labels }) =>
    wanted.every(([key = '', value]) => (value === undefined ? key in labels : labels[key] === value)),
  )
  return { status: 200, body: { apiVersion: 'v1', kind: 'PodList', metadata: {}, items: matching.map(objectOf) } }
}

function refusal(code: number, message: string): { status: number; body: unknown } {
  return { status: code, body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', message, code } }
}

function objectOf({ name, namespace, labels, phase = 'Running', env = [] }: TestPod): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { containers: [{ name: 'gw', env: env.map((variable) => ({ name: variable, value: 'x' })) }] },
    status: { phase },
  }
}

function serveSockets(server: Server, pods: readonly TestPod[], commands: string[]): void {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v4.channel.k8s.io' })
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const [, namespace, name, action] =
      /namespaces\/([^/]+)\/pods\/([^/]+)\/(portforward|exec)$/.exec(url.pathname) ?? []
    const pod = pods.find((one) => one.name === name && one.namespace === namespace)
    if (pod === undefined || (action === 'exec' && pod.output === undefined)) {
      socket.end(`HTTP/1.1 ${pod === undefined ? '404 Not Found' : '403 Forbidden'}\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      if (action === 'exec') {
        commands.push(`${pod.name}: ${url.searchParams.getAll('command').join(' ')}`)
        client.send(frame(1, pod.output ?? ''))
        client.send(frame(3, JSON.stringify({ status: 'Success' })))
      } else forward(client, pod, Number(url.searchParams.get('ports')))
    })
  })
}

/** Channel 0 has the data, channel 1 errors; both begin with the port. */
function forward(client: WebSocket, pod: TestPod, port: number): void {
  const number = Buffer.from([port % 256, Math.floor(port / 256)])
  for (const channel of [0, 1]) client.send(frame(channel, number))
  const target = pod.ports.get(port)
  if (target === undefined) {
    client.send(frame(1, `failed to connect to localhost:${port} inside namespace: connection refused`))
    return
  }
  const onward = connect(target, '127.0.0.1')
  onward.on('data', (data) => client.send(frame(0, data)))
  onward.on('error', () => client.close())
  onward.on('close', () => client.close())
  client.on('message', (data: RawData) => onward.write(bytesOf(data).subarray(1)))
  client.on('close', () => onward.destroy())
}

function frame(channel: number, data: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from([channel]), Buffer.from(data)])
}

function bytesOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer) // of a binary message
}
