// The process that cases run against: `gw run`, which serves one file and applies each change of it.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSource, type LoadedSource } from '#cli/source.ts'
import { freePort } from '#test/ports.ts'
import { GwProcess, until } from '../../cli/gw.ts'
import { ask } from './ask.ts'
import { workloadAuthority } from './workload.ts'

const ENVIRONMENT = {
  // For samples with the zones of endpoints.
  GW_NODE_NAME: 'node-1',
  GW_DYNAMIC_FORWARD_ALLOW: '127.0.0.1',
}

export interface SampleProxy {
  /** Of its admin and metrics servers: `http://host:port`. */
  readonly admin: string
  readonly stats: string
  readonly pid: number
  /** Returns when the manifests, with a listener on this port, are active and replaced all earlier ones. */
  serve(manifests: string, port: number): Promise<Served>
  stop(): Promise<void>
}

export interface Served {
  /** The same manifests, loaded here in the same way, because the process does not print statuses. */
  readonly source: LoadedSource
  /** The output of the process since they are active. */
  readonly log: () => string
}

export async function startSampleProxy(environment: Readonly<Record<string, string>> = {}): Promise<SampleProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-conformance-'))
  const file = join(folder, 'manifests.yaml')
  const ports = { admin: await freePort(), stats: await freePort(), idle: await freePort() }
  const addresses = Object.entries({ admin: ports.admin, stats: ports.stats, readiness: 0 })
  let generation = 0
  writeFileSync(file, idle(ports.idle, generation))
  const authorities = join(folder, 'authorities.pem')
  writeFileSync(authorities, workloadAuthority())
  const gw = new GwProcess(
    ['run', '-f', file, '--workers=1', ...addresses.map(([name, port]) => `--${name}-addr=127.0.0.1:${port}`)],
    { ...ENVIRONMENT, SSL_CERT_FILE: authorities, ...environment },
  )
  await gw.says(`gw: serving ${file}`)
  const admin = `http://127.0.0.1:${ports.admin}`

  const write = async (manifests: string, port: number): Promise<void> => {
    const { length } = gw.stderr
    const said = (): string => gw.stderr.slice(length)
    writeFileSync(`${file}.next`, manifests)
    renameSync(`${file}.next`, file)
    await until('gw has taken over the manifests', () => / stays$|^gw: reloaded /m.test(said()), said)
    if (said().includes('configuration stays')) throw new Error(said())
    const opened = async (): Promise<boolean> => (await ask(`${admin}/config_dump`)).text.includes(`127.0.0.1:${port}"`)
    await until(`port ${port} is in the dump`, opened, said)
  }

  return {
    admin,
    stats: `http://127.0.0.1:${ports.stats}`,
    pid: gw.child.pid ?? 0,
    async serve(manifests, port) {
      // A change keeps the state of rate limits: without a change in between, one case would use up those of the next.
      await write(idle(ports.idle, ++generation), ports.idle)
      const start = { stdout: gw.stdout.length, stderr: gw.stderr.length }
      await write(manifests, port)
      const source = await loadSource(file)
      if ('problem' in source) throw new Error(source.problem)
      return { source, log: () => gw.stdout.slice(start.stdout) + gw.stderr.slice(start.stderr) }
    },
    async stop() {
      await gw.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** A listener without routes; each generation is a different change. */
function idle(port: number, generation: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: idle }
spec: { controllerName: gw.dev/controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: idle, namespace: default }
spec:
  gatewayClassName: idle
  listeners: [{ name: idle, port: ${port}, protocol: HTTP, hostname: g${generation}.example }]
`
}
