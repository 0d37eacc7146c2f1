// gw controller that cannot start: a message with the fix, no stack, exit code 1.
import { createServer } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../ports.ts'
import { until } from '../wait.ts'
import { type Finished, GwProcess } from './gw.ts'

const LOOPBACK = { GW_HEALTH_ADDR: '127.0.0.1:0', GW_METRICS_ADDR: '127.0.0.1:0', GW_ADMIN_ADDR: '127.0.0.1:0' }
const CONFIG = {
  users: [{ name: 'me', user: { token: 'secret-token' } }],
  contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'me' } }],
  'current-context': 'dev',
}
const START_MS = 45_000
let folder: string
let config: string

beforeAll(async () => {
  // Nothing listens there.
  const server = `https://127.0.0.1:${await freePort()}`
  folder = mkdtempSync(join(tmpdir(), 'gw-controller-'))
  config = join(folder, 'config')
  writeFileSync(config, JSON.stringify({ ...CONFIG, clusters: [{ name: 'dev', cluster: { server } }] }))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Finished> {
  return new GwProcess(args, environment).ended
}

describe('gw controller', () => {
  it('reports every wrong setting, and an unreachable cluster', async () => {
    const absent = join(folder, 'absent')
    const { code, stderr } = await run(['controller'], { KUBECONFIG: absent, GW_LOG_LEVEL: 'loud', POD_NAMESPACE: '?' })
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n')).toEqual([
      'POD_NAMESPACE: the environment variable must be the name of a namespace',
      'GW_LOG_LEVEL: the environment variable must be one of error, warn, info, debug, trace',
      `KUBECONFIG: ${absent} does not exist; name another one`,
    ])
  })

  it('reports the setting of an address in use', { tags: ['full'] }, async () => {
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const taken = { KUBECONFIG: config, ...LOOPBACK, GW_METRICS_ADDR: `127.0.0.1:${port}` }
    const { code, stderr } = await run(['controller'], taken)
    server.close()
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^GW_METRICS_ADDR: cannot listen on 127\.0\.0\.1 port \d+: .*address already in use.*\n$/),
    ])
  })
})

describe('gw controller that starts', () => {
  it('warns about settings without effect', { tags: ['full'] }, async () => {
    const refs = JSON.stringify({ other: { name: 'x', namespace: 'y' } })
    const environment = { KUBECONFIG: config, ...LOOPBACK, GW_GATEWAY_CLASS_PARAMETERS_REFS: refs, GW_LOGLEVEL: 'x' }
    const started = new GwProcess(['controller'], environment)
    await until('the start', () => started.stderr.includes('"msg":"started"'), START_MS)
    expect(started.stderr).toContain('GW_GATEWAY_CLASS_PARAMETERS_REFS applies to the class gw only')
    expect(started.stderr).toContain('GW_LOGLEVEL')
    started.child.kill('SIGTERM')
    expect((await started.ended).code).toBe(0)
  })
})

describe('gw controller log', () => {
  it('reports why the cluster does not answer', async () => {
    const { code, stderr } = await run(['controller', 'log'], { KUBECONFIG: config })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^cannot list the pods of gw-system: .*ECONNREFUSED/)])
  })
})
