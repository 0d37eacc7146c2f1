// The quickstart on free ports: the servers of hack/quickstart and `gw run` with its sample. Pages name the usual
// ports.
import { once } from 'node:events'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GwProcess, ROOT } from '#test/cli/gw.ts'
import type { Step } from '#test/console-steps.ts'
import { closeServer, freePort } from '#test/ports.ts'
import { echoServer } from '../../hack/quickstart/echo.ts'
import { issuerServer } from '../../hack/quickstart/issuer.ts'
import { mcpServer } from '../../hack/quickstart/mcp.ts'
import { modelServer } from '../../hack/quickstart/model.ts'
import { layBrowser, layCommand, outputsOf, Ports, type Result, resultsOf } from './shell.ts'

const SERVERS = [echoServer, modelServer, mcpServer, issuerServer]
const FIRST_SERVER_PORT = 18_081
const GATEWAY_PORTS = [8080, 8443]
const ADMIN_PORTS = { 'admin-addr': 15_000, 'stats-addr': 15_020, 'readiness-addr': 15_021 }

export interface Quickstart {
  /** Log lines so far, with the ports of pages. */
  log(): string
  outputsOf(steps: readonly Step[]): Promise<string[]>
  resultsOf(steps: readonly Pick<Step, 'command'>[]): Promise<Result[]>
  /** The page that `gw ui` has opened. */
  readonly opened: string
  stop(): Promise<void>
}

export async function startQuickstart(environment: Readonly<Record<string, string>> = {}): Promise<Quickstart> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-page-'))
  const numbers = new Map<number, number>()
  const servers = SERVERS.map((create) => create().listen(0, '127.0.0.1'))
  for (const [at, server] of servers.entries()) {
    if (!server.listening) await once(server, 'listening')
    numbers.set(FIRST_SERVER_PORT + at, (server.address() as AddressInfo).port) // a TCP server
  }
  for (const port of [...GATEWAY_PORTS, ...Object.values(ADMIN_PORTS)]) numbers.set(port, await freePort())
  const ports = new Ports(numbers)
  const sample = join(folder, 'quickstart')
  cpSync(join(ROOT, 'config/samples/quickstart'), sample, { recursive: true })
  for (const file of globSync(join(sample, '*.yaml'))) writeFileSync(file, ports.inRun(readFileSync(file, 'utf8')))
  layCommand(folder)
  const opened = layBrowser(folder)
  const flags = Object.entries(ADMIN_PORTS).map(([flag, port]) => `--${flag}=localhost:${ports.of(port)}`)
  const gateway = new GwProcess(['run', '-f', sample, '--workers=1', ...flags], environment)
  await gateway.says('gw: serving')
  const admin = `--local --admin-addr localhost:${ports.of(ADMIN_PORTS['admin-addr'])}`
  const change = (command: string): string => command.replaceAll('--local', admin)
  return {
    log: () => ports.onPage(gateway.stdout),
    outputsOf: (steps) => outputsOf(steps, { folder, ports, change }),
    resultsOf: (steps) => resultsOf(steps, { folder, ports, change }),
    opened,
    stop: async () => {
      await gateway.stop()
      servers.forEach(closeServer)
      rmSync(folder, { recursive: true })
    },
  }
}
