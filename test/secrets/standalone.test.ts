// `gw run -f` of a standalone file reveals no secret: the test plants one in every field for a credential, as text and
// in files, sends right and wrong credentials, and searches everything that the process prints or returns.
// @module-tag full
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testIssuer } from '#proxy/auth/jwt.testing.ts'
import { certificateFor, type KeyPair } from '#test/certificates.ts'
import { GwProcess } from '#test/cli/gw.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { withKey, withPrivateMembers } from './manifests.ts'
import { type Ask, askWatched, leaksIn, linesOfKey, printed, questions } from './outputs.ts'

/** All have the same beginning; the file contains this text nowhere else. */
const SECRET = {
  apiKey: 'planted-api-key-1',
  password: 'planted-password-2',
  passwordOfFile: 'planted-password-3',
  textKey: 'planted-text-key-4',
  fileKey: 'planted-file-key-5',
  placedKey: 'planted-placed-key-6',
  queryKey: 'planted-query-key-7',
  cookieKey: 'planted-cookie-key-8',
  modelKey: 'planted-model-key-9',
  clientSecret: 'planted-client-secret-10',
  stdioToken: 'planted-stdio-token-11',
  wrong: 'planted-wrong-12',
  keySetMember: 'planted-key-set-member-13',
  awsAccessKey: 'planted-aws-access-key-14',
  awsSecretKey: 'planted-aws-secret-key-15',
  awsSessionToken: 'planted-aws-session-token-16',
  azureClient: 'planted-azure-client-17',
  azureTenant: 'planted/azure-tenant-18',
  azureSecret: 'planted-azure-secret-19',
  googleKey: 'planted-google-key-20',
} as const
const SESSION_KEY = createHash('sha256').update('planted session key').digest('hex')
/** Credentials of the gateway for the backend. */
const SENT = [
  'textKey',
  'fileKey',
  'placedKey',
  'queryKey',
  'cookieKey',
  'modelKey',
  'awsAccessKey',
  'awsSessionToken',
] as const

const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

/** Right and wrong credentials. */
const ASKS: readonly Ask[] = [
  { path: '/key', headers: bearer(SECRET.apiKey), status: 200 },
  { path: '/key', headers: bearer(SECRET.wrong), status: 401 },
  { path: '/basic', headers: basic('ann', SECRET.password), status: 200 },
  { path: '/basic', headers: basic('ann', SECRET.wrong), status: 401 },
  { path: '/filed', headers: basic('bob', SECRET.passwordOfFile), status: 200 },
  { path: '/text', status: 200 },
  { path: '/file', status: 200 },
  { path: '/placed', status: 200 },
  { path: '/more', status: 200 },
  { path: '/aws', status: 200 },
  { path: '/azure', status: 500 },
  { path: '/google', status: 500 },
  { path: '/tls', status: 503 },
  { path: '/model/v1/chat/completions', body: '{"model": "m", "messages": []}', status: 200 },
]

let folder: string
let upstream: Server
let running: GwProcess
let tls: KeyPair
const received: string[] = []
/** Statuses of the responses, in the order of `ASKS`. */
const statuses: number[] = []
const outputs = new Map<string, string>()

const hashOf = (user: string, password: string): string =>
  `${user}:{SHA}${createHash('sha1').update(password).digest('base64')}`

interface Places {
  readonly port: number
  readonly upstream: number
  readonly tlsPort: number
  readonly mcpPort: number
  readonly jwks: string
}

function standalone({ port, upstream: to, tlsPort, mcpPort, jwks }: Places): object {
  const host = `127.0.0.1:${to}`
  const path = (name: string): object => ({ matches: [{ path: { pathPrefix: `/${name}` } }], name })
  const checked = (name: string, policies: object): object => ({ ...path(name), policies, backends: [{ host }] })
  const sending = (name: string, backendAuth: unknown): object => ({
    ...path(name),
    backends: [{ host, policies: { backendAuth } }],
  })
  const pem = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const authentication = {
    issuer: 'https://idp.example',
    audiences: ['shop'],
    jwks,
    provider: { entra: {} },
    clientId: 'client',
    clientSecret: SECRET.clientSecret,
    resourceMetadata: { resource: 'https://shop.example/mcp' },
  }
  const stdio = { cmd: process.execPath, args: ['-e', ''], env: { TOKEN: SECRET.stdioToken } }
  return {
    config: { session: { key: SESSION_KEY }, logging: { level: 'trace' } },
    gateways: { default: { port }, secure: { port: tlsPort, protocol: 'HTTPS', tls: pem } },
    routes: [
      checked('key', { apiKey: { mode: 'strict', keys: [{ key: SECRET.apiKey, metadata: { team: 'core' } }] } }),
      checked('basic', { basicAuth: { mode: 'strict', htpasswd: hashOf('ann', SECRET.password) } }),
      checked('filed', { basicAuth: { mode: 'strict', htpasswd: { file: join(folder, 'users') } } }),
      sending('text', SECRET.textKey),
      sending('file', { key: { file: join(folder, 'key') } }),
      sending('placed', { key: { value: SECRET.placedKey, location: { header: { name: 'x-team' } } } }),
      sending('more', {
        credentials: [
          { key: SECRET.queryKey, location: { queryParameter: { name: 'k' } } },
          { key: SECRET.cookieKey, location: { cookie: { name: 's' } } },
        ],
      }),
      sending('aws', {
        aws: {
          accessKeyId: SECRET.awsAccessKey,
          secretAccessKey: { file: join(folder, 'aws') },
          sessionToken: SECRET.awsSessionToken,
          region: 'eu-west-1',
        },
      }),
      // The libraries reject the tenant, and cannot sign with the key: no endpoint is asked.
      sending('azure', {
        azure: {
          explicitConfig: {
            clientSecret: {
              client_id: SECRET.azureClient,
              tenant_id: SECRET.azureTenant,
              client_secret: SECRET.azureSecret,
            },
          },
        },
      }),
      sending('google', { gcp: { credential: { file: join(folder, 'google.json') } } }),
      {
        ...path('tls'),
        backends: [{ host, policies: { backendTLS: { ...pem, root: join(folder, 'authority.pem'), insecure: true } } }],
      },
      {
        ...path('model'),
        backends: [
          {
            ai: { name: 'm', provider: { openAI: {} }, hostOverride: host },
            policies: { backendAuth: SECRET.modelKey },
          },
        ],
      },
    ],
    mcp: { port: mcpPort, policies: { mcpAuthentication: authentication }, targets: [{ name: 'tool', stdio }] },
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-standalone-secrets-'))
  upstream = createServer((request, response) => {
    received.push(`${request.url} ${JSON.stringify(request.headers)}`)
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  })
  tls = certificateFor({ commonName: 'shop.example', names: ['DNS:shop.example'] })
  const files = {
    'cert.pem': tls.certificate,
    'key.pem': tls.privateKey,
    key: SECRET.fileKey,
    aws: SECRET.awsSecretKey,
    'google.json': JSON.stringify({
      type: 'service_account',
      client_email: 'planted@example.com',
      private_key: SECRET.googleKey,
    }),
    'authority.pem': withKey(tls),
  }
  const users = { users: `${hashOf('bob', SECRET.passwordOfFile)}\n` }
  for (const [name, text] of Object.entries({ ...files, ...users })) writeFileSync(join(folder, name), text)
  const jwks = withPrivateMembers((await testIssuer('https://idp.example')).jwks, SECRET.keySetMember)
  const places = { port: await freePort(), tlsPort: await freePort(), mcpPort: await freePort() }
  const file = join(folder, 'gateway.json')
  writeFileSync(file, JSON.stringify(standalone({ ...places, jwks, upstream: await listening(upstream) })))
  const [admin, stats] = [await freePort(), await freePort()]
  const addresses = ['--admin-addr', `127.0.0.1:${admin}`, '--stats-addr', `127.0.0.1:${stats}`]
  running = new GwProcess(['run', '-f', file, ...addresses, '--readiness-addr', '127.0.0.1:0', '--workers', '1'])
  await running.says('gw: serving')
  const gateway = { http: places.port, admin, stats }
  const asked = await askWatched(ASKS, gateway)
  statuses.push(...asked.statuses)
  for (const [name, text] of [...asked.outputs, ...(await questions(file, gateway))]) outputs.set(name, text)
  running.signal('SIGINT')
  outputs.set('what gw run prints', printed(await running.ended))
}, 60_000)

afterAll(async () => {
  await running.stop()
  closeServer(upstream)
  rmSync(folder, { recursive: true })
})

function leaks(text: string): string[] {
  const all = [...Object.entries(SECRET), ['sessionKey', SESSION_KEY] as const]
  return [...new Set(leaksIn(text, [...all, ...linesOfKey('privateKey', tls.privateKey)]))]
}

describe('secrets of a standalone file', () => {
  it('are in use: the backend got those of the gateway', () => {
    expect(statuses).toEqual(ASKS.map(({ status }) => status))
    const all = received.join('\n')
    expect(SENT.filter((name) => !all.includes(SECRET[name]))).toEqual([])
  })

  it('would be found', () => {
    expect(leaks(received.join('\n')).sort()).toEqual([...SENT].sort())
    expect(leaks(`x ${SESSION_KEY} ${tls.privateKey}`)).toEqual(['sessionKey', 'privateKey'])
  })

  it('are in no output', () => {
    expect([...outputs].filter(([, text]) => text === '').map(([name]) => name)).toEqual([])
    expect(outputs.get('what gw run prints')).toContain('http.path=/placed')
    expect(outputs.get('/config_dump')).toContain('<redacted>')
    expect([...outputs].flatMap(([name, text]) => leaks(text).map((secret) => [name, secret]))).toEqual([])
  })
})
