// Inspects a proxy of the cluster as in docs/cli.md: with `gw`, through a port that kubectl forwards.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { remove } from './suite/kubectl.ts'
import { NAMESPACE, themeFile, useSample } from './suite/samples.ts'

const COMMAND_MS = 60_000

/** The admin server of a pod of the Deployment, as `127.0.0.1:port`, while `use` runs. */
async function forwarded<T>(deployment: string, use: (address: string) => Promise<T>): Promise<T> {
  const args = ['port-forward', '-n', NAMESPACE, `deployment/${deployment}`, ':15000']
  const forward = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const signal = AbortSignal.timeout(COMMAND_MS)
    const [line]: unknown[] = await once(forward.stdout, 'data', { signal })
    const [, address = ''] = /from (127\.0\.0\.1:\d+)/.exec(String(line)) ?? []
    return await use(address)
  } finally {
    forward.kill()
  }
}

/** Name of its only pod. */
async function tokenOf(deployment: string): Promise<string> {
  const command = ['/usr/local/bin/node', '/app/gw.js', 'proxy', 'token']
  const args = ['exec', '-n', NAMESPACE, `deployment/${deployment}`, '--', ...command]
  return (await promisify(execFile)('kubectl', args, { timeout: COMMAND_MS })).stdout.trim()
}

beforeAll(async () => {
  await useSample('http')
})

afterAll(async () => {
  await remove(themeFile('http'))
})

describe('inspecting the cluster', () => {
  it('shows the active configuration of a proxy', async () => {
    const shown = await forwarded('http', async (address) => {
      const args = ['proxy', 'config', 'all', '--local', '--admin-addr', address]
      const env = { ...process.env, GW_ADMIN_TOKEN: await tokenOf('http') }
      return (await promisify(execFile)('bin/gw', args, { timeout: COMMAND_MS, env })).stdout
    })
    expect(shown).toContain('www.example.com')
    expect(shown).toContain(`${NAMESPACE}/echo.${NAMESPACE}.svc.cluster.local:80`)
  })
})
