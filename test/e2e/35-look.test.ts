// Inspects a proxy of the cluster as in docs/cli.md: `gw` finds its pod, forwards its ports and gets its token.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { send } from './suite/client.ts'
import { remove } from './suite/kubectl.ts'
import { NAMESPACE, serviceOf, themeFile, useSample } from './suite/samples.ts'

const COMMAND_MS = 60_000
const GATEWAY = ['gateway/http', '-n', NAMESPACE]
const SEND = ['--port', '80', '--', 'http://www.example.com/api/x']

/** Standard output. */
async function gw(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('bin/gw', args, { timeout: COMMAND_MS })).stdout
}

beforeAll(async () => {
  await useSample('http')
})

afterAll(async () => {
  await remove(themeFile('http'))
})

describe('inspecting the cluster', () => {
  it('shows the active configuration of a proxy', async () => {
    const shown = await gw('proxy', 'config', 'all', ...GATEWAY)
    expect(shown).toContain('www.example.com')
    expect(shown).toContain(`${NAMESPACE}/echo.${NAMESPACE}.svc.cluster.local:80`)
  })

  it('shows its routes as JSON', async () => {
    const routes: unknown = JSON.parse(await gw('proxy', 'config', 'routes', ...GATEWAY, '-o', 'json'))
    expect(routes).toContainEqual(expect.objectContaining({ listener: 'http', hostnames: ['www.example.com'] }))
  })

  it('shows the endpoints of all Gateways', async () => {
    expect(await gw('proxy', 'config', 'backends', '--all', '-A')).toMatch(
      new RegExp(`^Service +echo +${NAMESPACE} `, 'm'),
    )
  })

  it('sends a request to the pod and traces it', async () => {
    const trace = await gw('proxy', 'trace', ...GATEWAY, ...SEND)
    expect(trace).toMatch(/Request Done {4}request finished status=200\n$/)
  })

  it('follows the next request of another client', async () => {
    const watching = gw('proxy', 'trace', ...GATEWAY, '--raw', '--expression', 'request.path == "/api/x"')
    const state = { isOver: false }
    const watched = watching.finally(() => (state.isOver = true))
    while (!state.isOver) await send({ url: `http://${serviceOf('http')}/api/x`, host: 'www.example.com' })
    expect(await watched).toContain('"type":"requestFinished"')
  })

  it('sets its log levels', async () => {
    expect(await gw('proxy', 'log', ...GATEWAY, '--set', 'otlp=debug')).toContain('otlp=debug')
  })
})
