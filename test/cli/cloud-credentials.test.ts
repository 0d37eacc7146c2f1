// Tokens of Azure and Google Cloud in a running gateway: fetched from metadata servers by the vendors' libraries, for
// the host of the backend, once for all workers; no token in any output. Loopback only.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { managed } from '#proxy/credentials/cloud-b/endpoints.testing.ts'
import { granted, metadataServer } from '#proxy/credentials/cloud-c/endpoints.testing.ts'
import { CloudEndpoints } from '#proxy/credentials/cloud-endpoints.testing.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { GwProcess, until } from './gw.ts'

let folder: string
let endpoints: CloudEndpoints
let backend: Server
let gw: GwProcess | undefined

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-cloud-test-'))
  endpoints = new CloudEndpoints()
  await endpoints.start()
  backend = createServer((request, response) => response.end(request.headers.authorization ?? ''))
})

afterEach(async () => {
  await gw?.stop()
  await endpoints.stop()
  closeServer(backend)
  rmSync(folder, { recursive: true, force: true })
})

it('sends tokens of both clouds, and fetches each once for all workers', async () => {
  endpoints.on('169.254.169.254/metadata/identity/oauth2/token', () => managed('planted-azure-token'))
  metadataServer(endpoints, () => granted('planted-google-token'))
  const target = await listening(backend)
  const [port, admin] = [await freePort(), await freePort()]
  const route = (name: string, auth: object): object => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    backends: [{ host: `localhost:${target}`, policies: { backendAuth: auth } }],
  })
  const file = join(folder, 'gateway.json')
  const routes = [
    route('azure', { azure: { explicitConfig: { managedIdentity: { clientId: 'c1' } } } }),
    route('google', { gcp: {} }),
    route('id-token', { gcp: { type: 'idToken' } }),
    route('broken', { gcp: { credential: '{"type": "planted"}' } }),
  ]
  writeFileSync(file, JSON.stringify({ gateways: { default: { port } }, routes }))
  gw = new GwProcess(
    [
      'run',
      '-f',
      file,
      `--admin-addr=127.0.0.1:${admin}`,
      '--stats-addr=127.0.0.1:0',
      '--readiness-addr=127.0.0.1:0',
      '--workers=2',
    ],
    {
      AZURE_POD_IDENTITY_AUTHORITY_HOST: `http://${endpoints.authority}`,
      GCE_METADATA_HOST: endpoints.authority,
      METADATA_SERVER_DETECTION: 'assume-present',
      GOOGLE_APPLICATION_CREDENTIALS: '',
      HOME: folder,
    },
  )
  await gw.says('gw: serving')
  const ask = async (path: string): Promise<string> => {
    const headers = { authorization: 'Bearer of-client', connection: 'close' }
    const response = await fetch(`http://127.0.0.1:${port}/${path}`, { headers })
    return `${response.status} ${await response.text()}`
  }
  const many = async (path: string): Promise<Set<string>> =>
    new Set(await Promise.all(Array.from({ length: 16 }, () => ask(path))))
  expect(await many('azure')).toEqual(new Set(['200 Bearer planted-azure-token']))
  expect(await many('google')).toEqual(new Set(['200 Bearer planted-google-token']))
  const [idToken = '', ...others] = await many('id-token')
  expect(others).toEqual([])
  const claims: unknown = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8'))
  expect(claims).toMatchObject({ aud: 'https://localhost' })
  expect(await ask('broken')).toBe('500 backend authentication failed: the credential is missing or unusable')
  const fetches = endpoints.seen.map(({ url }) => `${url.pathname} ${url.searchParams.get('client_id') ?? ''}`.trim())
  expect(fetches.toSorted()).toEqual([
    '/computeMetadata/v1/instance/service-accounts/default/identity',
    '/computeMetadata/v1/instance/service-accounts/default/token',
    '/metadata/identity/oauth2/token/ c1',
  ])
  const dump = await (await fetch(`http://127.0.0.1:${admin}/config_dump`)).text()
  expect(dump).toContain('managedIdentity')
  for (const output of [dump, gw.stdout, gw.stderr]) expect(output).not.toMatch(/planted|of-client/)
  await until('the log has the cause', () => gw?.stdout.includes('the credential has an unsupported type') === true)
})
