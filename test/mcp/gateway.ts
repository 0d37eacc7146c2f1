// `gw run` before MCP servers, as a process of its own: a replica of a gateway.
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { components } from '#api/admin/types.gen.ts'
import { GwProcess } from '#test/cli/gw.ts'
import { freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const START_MS = 45_000
/** Replicas share it. */
const SESSION_KEY = 'ab'.repeat(32)

/** Without load shedding, which answers 503 while other programs take the processors. */
export const ON_A_BUSY_MACHINE = { GW_OVERLOAD_LAG: '0' }

export interface Use {
  readonly descriptors: number
  readonly sockets: number
  readonly rssMiB: number
  /** Of the worker. */
  readonly heapMiB: number
}

export class Replica {
  readonly port: number
  readonly #admin: number
  readonly #folder: string
  #process: GwProcess

  private constructor(options: { port: number; admin: number; folder: string }) {
    this.port = options.port
    this.#admin = options.admin
    this.#folder = options.folder
    this.#process = this.#run()
  }

  /** Before servers on these ports. */
  static async start(servers: readonly number[]): Promise<Replica> {
    const [port, admin] = [await freePort(), await freePort()]
    const folder = mkdtempSync(join(tmpdir(), 'gw-mcp-load-'))
    const targets = servers.map((server, index) => ({
      name: `t${index}`,
      mcp: { host: `http://127.0.0.1:${server}/mcp` },
    }))
    writeFileSync(
      join(folder, 'gateway.json'),
      JSON.stringify({ gateways: { default: { port } }, routes: [{ name: 'mcp', backends: [{ mcp: { targets } }] }] }),
    )
    const replica = new Replica({ port, admin, folder })
    await replica.#isServing()
    return replica
  }

  /** As a crash. */
  async kill(): Promise<void> {
    this.#process.signal('SIGKILL')
    await this.#process.ended
  }

  async restart(): Promise<void> {
    this.#process = this.#run()
    await this.#isServing()
  }

  async stop(): Promise<void> {
    await this.#process.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async use(): Promise<Use> {
    const folder = `/proc/${this.#process.child.pid}`
    const open = readdirSync(`${folder}/fd`)
    const status = readFileSync(`${folder}/status`, 'utf8')
    const response = await fetch(`http://127.0.0.1:${this.#admin}/memory`)
    const { workers } = (await response.json()) as components['schemas']['Memory'] // our own admin server
    return {
      descriptors: open.length,
      sockets: open.filter((fd) => isSocket(`${folder}/fd/${fd}`)).length,
      rssMiB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
      heapMiB: (workers[0]?.['heapUsed'] ?? 0) / 1024 / 1024,
    }
  }

  #run(): GwProcess {
    const address = `--admin-addr=127.0.0.1:${this.#admin}`
    const own = [address, '--stats-addr=127.0.0.1:0', '--readiness-addr=127.0.0.1:0', '--workers=1', '--no-access-log']
    return new GwProcess(['run', '-f', join(this.#folder, 'gateway.json'), ...own], {
      SESSION_KEY,
      ...ON_A_BUSY_MACHINE,
    })
  }

  async #isServing(): Promise<void> {
    await until('the replica serves', () => this.#process.stderr.includes('gw: serving'), START_MS)
  }
}

/** A descriptor may be closed meanwhile. */
function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    return false
  }
}
