// The reaper of the cluster tests with an engine that only records its requests.
// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort } from '../ports.ts'

const LABEL = 'org.testcontainers.session-id=one'
const FILTERS = encodeURIComponent(JSON.stringify({ label: [LABEL] }))
const OWN = 'feedc0ffee00'

let folder: string
let engine: Server
let port: number
let reaper: ChildProcess
let calls: string[]
/** A container that cannot be removed yet. */
let refusals: number

const ANSWERS: Readonly<Record<string, unknown>> = {
  [`GET /containers/json?all=1&filters=${FILTERS}`]: [{ Id: 'node-1' }, { Id: `${OWN}0000` }, { Id: 'node-2' }],
  [`GET /networks?filters=${FILTERS}`]: [{ Id: 'net' }],
  [`GET /volumes?filters=${FILTERS}`]: { Volumes: [{ Name: 'vol' }] },
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-reaper-'))
  calls = []
  refusals = 0
  engine = createServer(({ method, url }, response) => {
    const call = `${method} ${url}`
    calls.push(call)
    const refused = method === 'DELETE' && refusals > 0
    if (refused) refusals--
    response.statusCode = refused ? 409 : method === 'DELETE' ? 204 : 200
    response.end(JSON.stringify(ANSWERS[call] ?? {}))
  })
  const socket = join(folder, 'engine.sock')
  await new Promise<void>((done) => {
    engine.listen(socket, done)
  })
  port = await freePort()
  const program = resolve(import.meta.dirname, '../e2e/cluster/reaper.ts')
  const env = { ...process.env, REAPER_PORT: String(port), REAPER_SOCKET: socket, HOSTNAME: OWN }
  reaper = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  if (reaper.stdout !== null) await once(reaper.stdout, 'data')
})

afterEach(() => {
  reaper.kill('SIGKILL')
  engine.close()
  rmSync(folder, { recursive: true, force: true })
})

async function run(...labels: readonly string[]): Promise<Socket> {
  const client = connect(port, '127.0.0.1')
  client.write(labels.map((label) => `label=${label}\r\n`).join(''))
  const [answer] = (await once(client, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^ACK\n/)
  return client
}

it('removes all objects of a session when its last run ends, but not itself', async () => {
  const [first, second] = [await run(LABEL), await run(LABEL)]
  first.resetAndDestroy()
  await once(first, 'close')
  expect(calls).toEqual([])
  second.resetAndDestroy()
  const [code] = (await once(reaper, 'exit')) as [number]
  expect(code).toBe(0)
  expect(calls.filter((call) => call.startsWith('DELETE')).sort()).toEqual([
    'DELETE /containers/node-1?force=1&v=1',
    'DELETE /containers/node-2?force=1&v=1',
    'DELETE /networks/net',
    'DELETE /volumes/vol?force=1',
  ])
})

it('retries requests that the engine rejects', async () => {
  refusals = 1
  const client = await run(LABEL)
  client.resetAndDestroy()
  const [code] = (await once(reaper, 'exit')) as [number]
  expect(code).toBe(0)
  const removals = calls.filter((call) => call.includes('/containers/node-'))
  expect(removals.length).toBeGreaterThan(2)
})
