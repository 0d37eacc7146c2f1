// Idle clients that use all file descriptors of gw: it still serves active clients.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, until } from './gw.ts'

/** A process with two threads has about fifty open before the first client connects. */
const LIMIT = 240
const IDLE_CLIENTS = 400
/** A cold start on a busy machine. */
const TIMEOUT = { timeout: 90_000 }

let folder = ''
const clients: Socket[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-descriptors-'))
})

afterEach(() => {
  for (const socket of clients) socket.destroy()
  rmSync(folder, { recursive: true, force: true })
})

async function statusOf(url: string): Promise<number | string> {
  try {
    const { status } = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(5000) })
    return status
  } catch (error) {
    return String(error)
  }
}

it.runIf(process.platform === 'linux')('keeps file descriptors for those that are served', TIMEOUT, async () => {
  const backend = createServer((_, response) => response.end('served'))
  await listening(backend)
  const address = backend.address()
  const [port, stats] = [await freePort(), await freePort()]
  const file = join(folder, 'gw.yaml')
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  writeFileSync(file, `gateways: { default: { port: ${port} } }\nroutes: [{ backends: [{ host: "${host}" }] }]\n`)
  const flags = [...ANY_PORTS, `--stats-addr=127.0.0.1:${stats}`]
  const proxy = new GwProcess(['run', '-f', file, ...flags], {}, { descriptors: LIMIT })
  const url = `http://127.0.0.1:${port}/`
  const refused = new Set<Socket>()
  try {
    await until('it serves', async () => (await statusOf(url)) === 200)
    for (let client = 0; client < IDLE_CLIENTS; client++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined).once('close', () => refused.add(socket))
      clients.push(socket)
    }
    await until('the log line', () => proxy.stdout.includes('file descriptor limit almost reached'))
    await until('there is room again', async () => (await statusOf(url)) === 200)
    for (let request = 0; request < 5; request++) expect(await statusOf(url)).toBe(200)
    const metrics = await (await fetch(`http://127.0.0.1:${stats}/metrics`)).text()
    expect(metrics).toMatch(/^gw_descriptor_refused_connections_total\{thread="worker-0"\} [1-9]/m)
    // Most of the first connections are still open: only a part of the limit is freed.
    expect(IDLE_CLIENTS - refused.size).toBeGreaterThan(50)
  } finally {
    await proxy.stop()
    closeServer(backend)
  }
})
