// @module-tag full
// The pages of model providers that need an account: their commands print the output of the page, and each of their
// samples reaches the provider, before the providers' hosts on loopback. Requires bash, curl and openssl.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import type { GwProcess } from '../cli/gw.ts'
import { layCommand, startInShell } from '../pages/shell.ts'
import { commandsFor } from '../pages/tested-pages.ts'
import { freePort } from '../ports.ts'
import { type Clouds, startClouds } from './suite/clouds.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'gw-vendors-'))
const PAGES = ['azure', 'bedrock', 'gemini', 'vertex'] as const
/** Where the sample with its own credential, and the one without, send a chat. */
const MODELS = { azure: 'gpt-5-mini', bedrock: 'any', gemini: 'any', vertex: 'gemini-2.5-flash' } as const
const PAGE_PORT = 4000

let clouds: Clouds
let gw: GwProcess | undefined

beforeAll(async () => {
  clouds = await startClouds()
  layCommand(folder)
})
afterEach(() => gw?.stop())
afterAll(() => {
  clouds.stop()
  rmSync(folder, { recursive: true })
})

const pageOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'llm', `${name}.md`), 'utf8')

interface Sample {
  readonly kind?: string
  readonly metadata?: { readonly name: string }
  readonly spec?: { readonly policies?: object }
  readonly llm?: { readonly models: readonly object[] }
}

/** All objects of each block of YAML. */
function samplesOf(page: string): readonly (readonly Sample[])[] {
  return [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, text = '']) =>
    // Samples; other tests check their fields.
    parseAllDocuments(text).map((document) => document.toJS() as Sample),
  )
}

/** `commands`: in one shell; the last one starts the gateway. Their variables keep the values of this test. */
async function serve(text: string, commands: readonly string[] = ['gw run -f gw.yaml']): Promise<void> {
  const file = join(folder, 'gw.yaml')
  const authorities = join(folder, 'authorities.pem')
  writeFileSync(file, text)
  writeFileSync(authorities, clouds.authorities)
  const environment = { ...clouds.environment, SSL_CERT_FILE: authorities }
  gw = startInShell(commands, folder, environment)
  await gw.says('gw: serving gw.yaml')
}

/** As the page shows it, but connections go through the tunnel. */
async function servePage(samples: readonly (readonly Sample[])[], commands: readonly string[]): Promise<number> {
  const port = await freePort()
  const models = samples.flat().find(({ llm }) => llm !== undefined)?.llm?.models ?? []
  const backendTunnel = { proxy: { host: `127.0.0.1:${clouds.tunnelPort}` } }
  await serve(stringify({ llm: { port, models: models.map((model) => ({ ...model, backendTunnel })) } }), commands)
  return port
}

/** A gateway with a route to the GwBackend of the sample. */
async function serveManifests(objects: readonly Sample[]): Promise<number> {
  const port = await freePort()
  const name = 'vendor'
  const backend = objects.find(({ kind }) => kind === 'GwBackend')
  const tunnel = { backendRef: { group: 'gw.dev', kind: 'GwBackend', name: 'tunnel' } }
  const gateway = (kind: string, spec: object) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name, ...(kind !== 'GatewayClass' && { namespace: 'default' }) },
    spec,
  })
  const manifests = [
    gateway('GatewayClass', { controllerName: 'gw.dev/controller' }),
    gateway('Gateway', { gatewayClassName: name, listeners: [{ name: 'http', port, protocol: 'HTTP' }] }),
    gateway('HTTPRoute', {
      parentRefs: [{ name }],
      rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: backend?.metadata?.name }] }],
    }),
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: { name: 'tunnel', namespace: 'default' },
      spec: { static: { host: '127.0.0.1', port: clouds.tunnelPort } },
    },
    ...objects.map((one) =>
      one === backend ? { ...one, spec: { ...one.spec, policies: { ...one.spec?.policies, tunnel } } } : one,
    ),
  ]
  await serve(manifests.map((one) => stringify(one)).join('---\n'))
  return port
}

describe.each(PAGES)('the page of %s', (name) => {
  const page = pageOf(name)
  const samples = samplesOf(page)
  // A Secret that a command makes of a file is not part of the page.
  const backends = samples.filter(
    (objects) =>
      objects.some(({ kind }) => kind === 'GwBackend') &&
      (objects.some(({ kind }) => kind === 'Secret') || !JSON.stringify(objects).includes('secretRef')),
  )

  it('shows the output of its commands', async () => {
    const all = commandsFor('test/conformance/vendor-pages.test.ts', `docs/llm/${name}.md`)
    const steps = all.filter(({ isShown }) => isShown)
    expect(steps.length).toBeGreaterThan(1)
    const starts = all.filter(({ isShown }) => !isShown).map(({ command }) => command)
    const port = await servePage(samples, starts)
    for (const { command, output } of steps) {
      const { stdout } = await run('bash', ['-c', command.replace(`:${PAGE_PORT}/`, `:${port}/`)])
      expect([command, stdout.trim()]).toEqual([command, output])
    }
  })

  it.each(backends.map((objects, at) => [at + 1, objects] as const))(
    'has sample %i that is served',
    async (_, objects) => {
      const port = await serveManifests(objects)
      const { length } = clouds.served
      const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODELS[name], messages: [{ role: 'user', content: 'Say hello' }] }),
      })
      expect([reply.status, await reply.json()]).toMatchObject([200, { choices: [{ message: { content: 'Hello!' } }] }])
      expect(clouds.served.length).toBe(length + 1)
    },
  )
})
