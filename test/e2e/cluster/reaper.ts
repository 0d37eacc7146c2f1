// The program of the reaper image: it removes the Docker objects of a test run after the last connection to it is
// closed, also after a SIGKILL. It uses the protocol of testcontainers/ryuk, whose image needs a registry. It runs
// alone in a container, so it must import only modules of Node.
import { request } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** The values that testcontainers expects; a test uses others. */
const PORT = Number(process.env['REAPER_PORT'] ?? 8080)
const SOCKET = process.env['REAPER_SOCKET'] ?? '/var/run/docker.sock'
/** A run that starts the reaper connects at once. */
const FIRST_CONNECTION_MS = 60_000
/** Runs that follow each other may share a reaper. */
const RECONNECTION_MS = 2_000
const CONNECTIONS_MAX = 64
const LABELS_MAX = 256
/** Time for a container with processes that end slowly, or for a busy engine. */
const ATTEMPTS = 10
const RETRY_MS = 2_000

/** Filters such as `label=org.testcontainers.session-id=…`. */
const labels = new Set<string>()
const clients = new Set<Socket>()
let deadline = setTimeout(leave, FIRST_CONNECTION_MS)

const server = createServer((client) => {
  clearTimeout(deadline)
  clients.add(client)
  client.on('error', (error) => console.log(`client: ${error.message}`))
  client.once('close', () => {
    clients.delete(client)
    if (clients.size === 0) deadline = setTimeout(leave, RECONNECTION_MS)
  })
  const lines = createInterface({ input: client })
  // A killed run resets its connection; readline forwards that error.
  lines.on('error', () => client.destroy())
  lines.on('line', (line) => {
    const label = line.trim()
    if (!label.startsWith('label=') || labels.size >= LABELS_MAX) return
    labels.add(label.slice('label='.length))
    client.write('ACK\n')
  })
})
server.maxConnections = CONNECTIONS_MAX
server.listen(PORT, () => console.log('Started'))

function leave(): void {
  server.close()
  void reapAll().then((left) => process.exit(left === 0 ? 0 : 1))
}

/** Number of things that could not be removed. */
async function reapAll(): Promise<number> {
  let left = 0
  for (const label of labels) {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      left = await reap(label).catch((error: unknown) => {
        console.log(String(error))
        return 1
      })
      if (left === 0) break
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
  return left
}

async function reap(label: string): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
  const containers = (await ask('GET', `/containers/json?all=1&filters=${filters}`)) as readonly { Id: string }[]
  // Its own container has the label of its session too, and is removed automatically (AutoRemove).
  const others = containers.filter(({ Id }) => !Id.startsWith(process.env['HOSTNAME'] ?? ' '))
  const removed = await removeAll(others.map(({ Id }) => `/containers/${Id}?force=1&v=1`))
  const networks = (await ask('GET', `/networks?filters=${filters}`)) as readonly { Id: string }[]
  const volumes = (await ask('GET', `/volumes?filters=${filters}`)) as { Volumes?: readonly { Name: string }[] | null }
  return (
    removed +
    (await removeAll(networks.map(({ Id }) => `/networks/${Id}`))) +
    (await removeAll((volumes.Volumes ?? []).map(({ Name }) => `/volumes/${Name}?force=1`)))
  )
}

/** Number of failures. */
async function removeAll(paths: readonly string[]): Promise<number> {
  const results = await Promise.allSettled(paths.map((path) => ask('DELETE', path)))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
  for (const failure of failures) console.log(failure)
  return failures.length
}

/** JSON of the engine. @throws {Error} if it rejects the request; a missing object is not a failure */
function ask(method: string, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: SOCKET, method, path, headers: { host: 'docker' } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const status = response.statusCode ?? 0
        if (status >= 400 && !(method === 'DELETE' && status === 404)) reject(new Error(`${method} ${path}: ${text}`))
        else resolve(method === 'GET' ? JSON.parse(text) : undefined)
      })
    })
    call.on('error', reject)
    call.end()
  })
}
