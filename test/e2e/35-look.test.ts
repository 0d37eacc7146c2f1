// Inspects a proxy of the cluster as in docs/cli.md: `gw` finds its pod, forwards its ports and gets its token.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { send } from './suite/client.ts'
import { kubectl, remove } from './suite/kubectl.ts'
import { NAMESPACE, serviceOf, themeFile, useSample } from './suite/samples.ts'

const COMMAND_MS = 60_000
const GATEWAY = ['gateway/http', '-n', NAMESPACE]
const SEND = ['--port', '80', '--', 'http://www.example.com/api/x']

/** Standard output. */
async function gw(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('bin/gw', args, { timeout: COMMAND_MS })).stdout
}

/** What a browser gets for `/ui/` and for another path, from the URL that `gw ui` prints. */
async function webUi(path: string, ...args: readonly string[]): Promise<{ page: string; data: unknown }> {
  const ui = spawn('bin/gw', ['ui', '--no-open', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = (await once(createInterface(ui.stdout), 'line')) as [string] // what readline reads
    const url = /http:\S+$/.exec(line)?.[0] ?? ''
    const first = await fetch(url, { redirect: 'manual' })
    const headers = { cookie: first.headers.get('set-cookie')?.split(';')[0] ?? '' }
    const page = await fetch(new URL('/ui/', url), { headers })
    const data = await fetch(new URL(path, url), { headers })
    return { page: await page.text(), data: await data.json() }
  } finally {
    ui.kill('SIGINT')
    await once(ui, 'exit')
  }
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

  it('sets all log levels of a proxy, and those of the controller', async () => {
    expect(await gw('proxy', 'log', ...GATEWAY, '--level', 'debug')).toMatch(/debug/)
    expect(await gw('proxy', 'log', ...GATEWAY, '--level', 'info')).toMatch(/info/)
    expect(await gw('controller', 'log', '--set', 'translator=debug')).toMatch(/translator.*debug/)
    expect(await gw('controller', 'log', '--level', 'info')).not.toMatch(/debug/)
  })

  it('explains a response by the route that took the request', async () => {
    const explained = await gw('explain', ...GATEWAY, '--', 'http://www.example.com/api/x')
    expect(explained).toMatch(/^200 OK/)
    expect(explained).toMatch(new RegExp(`listener +http of ${NAMESPACE}/http`))
  })

  it('writes profiles of a proxy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-profile-'))
    for (const [kind, ...flags] of [['cpu', '--seconds', '1'], ['heap']] as const) {
      const file = join(folder, `${kind}.pb`)
      expect(await gw('proxy', 'profile', kind, ...GATEWAY, ...flags, '-o', file)).toContain(file)
      expect(readFileSync(file).length).toBeGreaterThan(0)
    }
    rmSync(folder, { recursive: true })
  })

  it('shows the web UIs of a proxy and of the controller', async () => {
    const proxy = await webUi('/config_dump', ...GATEWAY)
    expect(proxy.page).toContain('assets/app.js')
    expect(proxy.data).toHaveProperty('config')
    const controller = await webUi('/overview', '--controller')
    expect(controller.page).toContain('assets/app.js')
    expect(controller.data).toMatchObject({ isLeading: true, objects: { HTTPRoute: expect.any(Number) } })
  })

  it('is a plugin of kubectl, and takes the context of its flag', async () => {
    const context = (await kubectl(['config', 'current-context'])).trim()
    const PATH = `${join(process.cwd(), 'bin')}:${process.env['PATH']}`
    const words = ['gw', 'proxy', 'config', 'routes', ...GATEWAY, '--context', context, '-o', 'name']
    const { stdout } = await promisify(execFile)('kubectl', words, { env: { ...process.env, PATH } })
    expect(stdout).toMatch(/\S/)
    await expect(gw('proxy', 'config', 'routes', ...GATEWAY, '--context', 'absent')).rejects.toThrow(/absent/)
  })
})
