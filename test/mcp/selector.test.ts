// Services that a selector finds appear and go while a client has a session: from the manifests to the client.
// @module-tag full
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { legacyUpstream, type LegacyUpstream } from '#proxy/mcp/servers.testing.ts'
import { ANY_PORTS, GwProcess } from '#test/cli/gw.ts'
import { localService } from '#test/conformance/suite/services.ts'
import { closeServer, freePort } from '#test/ports.ts'
import { until } from '#test/wait.ts'

const GATEWAY = 'gateway.networking.k8s.io/v1'
const CHANGE_MS = 60_000
const servers: LegacyUpstream[] = []
let folder = ''
let port = 0
let gateway: GwProcess | undefined

beforeAll(async () => {
  for (const name of ['first', 'second']) servers.push(await legacyUpstream(name))
  folder = mkdtempSync(join(tmpdir(), 'gw-mcp-selector-'))
  port = await freePort()
  writeManifests('first')
  gateway = new GwProcess(['run', '-f', join(folder, 'manifests.yaml'), ...ANY_PORTS])
  await gateway.says('gw: serving')
}, 120_000)

afterAll(async () => {
  await gateway?.stop()
  for (const { server } of servers) closeServer(server)
  rmSync(folder, { recursive: true, force: true })
})

/** With the Services of these servers. */
function writeManifests(...names: readonly string[]): void {
  const services = servers
    .filter(({ name }) => names.includes(name))
    .flatMap(({ name, port: targetPort }) =>
      localService({ name, targetPort, appProtocol: 'gw.dev/mcp', labels: { tools: 'demo' } }),
    )
  const objects = [
    {
      apiVersion: GATEWAY,
      kind: 'GatewayClass',
      metadata: { name: 'gw' },
      spec: { controllerName: 'gw.dev/controller' },
    },
    {
      apiVersion: GATEWAY,
      kind: 'Gateway',
      metadata: { name: 'tools', namespace: 'default' },
      spec: { gatewayClassName: 'gw', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
    },
    {
      apiVersion: GATEWAY,
      kind: 'HTTPRoute',
      metadata: { name: 'tools', namespace: 'default' },
      spec: {
        parentRefs: [{ name: 'tools' }],
        rules: [{ backendRefs: [{ group: 'gw.dev', kind: 'GwBackend', name: 'tools' }] }],
      },
    },
    {
      apiVersion: 'gw.dev/v1alpha1',
      kind: 'GwBackend',
      metadata: { name: 'tools', namespace: 'default' },
      spec: {
        mcp: {
          prefixMode: 'Always',
          targets: [{ name: 'team', selector: { services: { matchLabels: { tools: 'demo' } } } }],
        },
      },
    },
    ...services,
  ]
  const written = join(folder, 'written')
  writeFileSync(written, objects.map((object) => stringify(object)).join('---\n'))
  renameSync(written, join(folder, 'manifests.yaml'))
}

it('a client gets the tools of a Service that appears, and loses those of one that goes', async () => {
  const client = new Client({ name: 't', version: '1' })
  let changes = 0
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++)
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  const targets = async (): Promise<string[]> => {
    const { tools } = await client.listTools()
    return [...new Set(tools.map(({ name }) => name.split('_')[0] ?? ''))]
  }
  expect(await targets()).toEqual(['first-main'])
  writeManifests('first', 'second')
  await until('the client is notified of the second Service', () => changes > 0, CHANGE_MS)
  expect(await targets()).toEqual(['first-main', 'second-main'])
  const { content } = await client.callTool({ name: 'second-main_whoami' })
  expect(content).toEqual([{ type: 'text', text: 'second' }])
  const known = changes
  writeManifests('second')
  await until('the client is notified again', () => changes > known, CHANGE_MS)
  await until('the tools of the first Service are missing', async () => (await targets()).join() === 'second-main')
  await client.close()
}, 150_000)
