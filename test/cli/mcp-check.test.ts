// gw mcp check as users run it: against a gateway with a real authorization server, and against servers each of which
// has one mistake.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type IdentityProvider, MACHINE, startIdentityProvider } from '#test/mcp-sign-in/identity-provider.ts'
import { VENDORS } from '#test/mcp-sign-in/vendors.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { firstOf } from '#test/run/table.ts'
import { ANY_PORTS, gw, GwProcess } from './gw.ts'

const STDIO_SERVER = fileURLToPath(new URL('testdata/stdio-server.ts', import.meta.url))

interface Report {
  readonly isUsable: boolean
  readonly steps: readonly { step: string; status: string; detail: string; cure?: string }[]
}

function statuses(stdout: string): Record<string, string> {
  const { steps } = JSON.parse(stdout) as Report // printed by the command
  return Object.fromEntries(steps.map(({ step, status }) => [step, status]))
}

describe('a gateway with an authorization server', () => {
  let folder = ''
  let url = ''
  let idp: IdentityProvider | undefined
  let gateway: GwProcess | undefined

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gw-mcp-check-'))
    const port = await freePort()
    url = `http://127.0.0.1:${port}/mcp`
    const [none] = VENDORS
    if (none === undefined) throw new Error('no vendor')
    idp = await startIdentityProvider(none, { resource: url })
    const stdio = { cmd: process.execPath, args: [STDIO_SERVER] }
    const mcpAuthentication = {
      issuer: idp.issuer,
      audiences: [url],
      jwks: { url: idp.jwksUrl },
      resourceMetadata: { resource: url },
    }
    const mcp = { port, policies: { mcpAuthentication }, targets: [{ name: 'tool', stdio }] }
    writeFileSync(join(folder, 'gateway.json'), JSON.stringify({ mcp }))
    gateway = new GwProcess(['run', '-f', join(folder, 'gateway.json'), ...ANY_PORTS])
    await gateway.says('gw: serving')
  }, 120_000)

  afterAll(async () => {
    await gateway?.stop()
    idp?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('passes up to the token', { timeout: 60_000 }, async () => {
    const { code, stdout } = await gw('mcp', 'check', url, '-o', 'json')
    expect(statuses(stdout)).toEqual({
      challenge: 'pass',
      'resource metadata': 'pass',
      'authorization server metadata': 'pass',
      PKCE: 'pass',
      registration: 'pass',
      token: 'skipped',
    })
    expect(code).toBe(0)
  })

  it('passes up to the tools with client credentials', { timeout: 60_000 }, async () => {
    const args = ['mcp', 'check', url, '--client-id', MACHINE.id, '--register']
    const { code, stdout, stderr } = await new GwProcess(args, { GW_MCP_CLIENT_SECRET: MACHINE.secret }).ended
    expect(stderr).toBe('')
    const lines = stdout.split('\n').map((line) => line.replace(/ +/, ' '))
    expect(lines).toContain(`pass token: client credentials of ${MACHINE.id}`)
    expect(lines).toContain('pass session: server stdio, protocol 2025-11-25')
    expect(lines).toContain('pass tools: 1: pid')
    expect(lines).toContain(`${url}: usable by MCP clients`)
    expect(idp?.requests).toContain('POST /reg')
    expect(code).toBe(0)
  })

  it('reports a token that the gateway rejects, and never prints it', { timeout: 60_000 }, async () => {
    const args = ['mcp', 'check', url, '-o', 'json']
    const { code, stdout } = await new GwProcess(args, { GW_MCP_TOKEN: 'planted-token' }).ended
    expect([code, statuses(stdout)['session']]).toEqual([1, 'fail'])
    expect(stdout).toContain('initialize: status 401 (invalid_token)')
    expect(stdout).not.toContain('planted-token')
  })
})

describe('a server with a mistake', () => {
  let server: Server | undefined

  afterEach(() => {
    if (server !== undefined) closeServer(server)
  })

  interface Pages {
    readonly challenge?: string
    readonly status?: number
    readonly resource?: object
    readonly issuer?: object
  }

  /** A correct one, but for these pages. */
  async function started(pages: (base: string) => Pages): Promise<string> {
    let base = ''
    server = createServer((request, response) => {
      const { challenge, status = 401, resource, issuer } = pages(base)
      const path = request.url ?? ''
      const metadata = `${base}/.well-known/oauth-protected-resource/mcp`
      if (path === '/mcp') {
        const field = challenge ?? `Bearer resource_metadata="${metadata}"`
        response.writeHead(status, field === '' ? {} : { 'www-authenticate': field }).end('{}')
        return
      }
      const documents: Record<string, object> = {
        '/.well-known/oauth-protected-resource/mcp': {
          resource: `${base}/mcp`,
          authorization_servers: [base],
          ...resource,
        },
        '/.well-known/oauth-authorization-server': {
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          code_challenge_methods_supported: ['S256'],
          ...issuer,
        },
      }
      const document = documents[path]
      response.writeHead(document === undefined ? 404 : 200).end(JSON.stringify(document ?? {}))
    })
    base = `http://127.0.0.1:${await listening(server)}`
    return `${base}/mcp`
  }

  firstOf(2)<[string, string, string, string, (base: string) => Pages]>([
    ['no mistake', 'registration', 'pass', 'not tried', () => ({})],
    ['no challenge', 'challenge', 'warning', 'guess', () => ({ challenge: '' })],
    [
      'a document in the challenge itself',
      'resource metadata',
      'fail',
      'is not a URL with http or https',
      (base) => ({
        challenge: `Bearer resource_metadata="data:,{%22resource%22:%22${base}/mcp%22,%22authorization_servers%22:[%22${base}%22]}"`,
      }),
    ],
    ['another status', 'challenge', 'fail', 'status 500', () => ({ status: 500 })],
    [
      'another resource',
      'resource metadata',
      'fail',
      'but clients use',
      () => ({ resource: { resource: 'https://a/mcp' } }),
    ],
    [
      'no authorization server',
      'resource metadata',
      'fail',
      'missing',
      () => ({ resource: { authorization_servers: [] } }),
    ],
    ['another issuer', 'authorization server metadata', 'fail', 'expect', () => ({ issuer: { issuer: 'https://a' } })],
    [
      'a token endpoint in clear text',
      'authorization server metadata',
      'fail',
      'token_endpoint',
      () => ({ issuer: { token_endpoint: 'http://a.example/token' } }),
    ],
    [
      'no server at the issuer',
      'authorization server metadata',
      'fail',
      'no response',
      () => ({ resource: { authorization_servers: ['http://127.0.0.1:1'] } }),
    ],
    ['no PKCE', 'PKCE', 'fail', 'plain', () => ({ issuer: { code_challenge_methods_supported: ['plain'] } })],
    ['no registration', 'registration', 'fail', 'missing', () => ({ issuer: { registration_endpoint: undefined } })],
  ])(
    '%s',
    async (_name, step, status, text, pages) => {
      const { code, stdout } = await gw('mcp', 'check', await started(pages), '-o', 'json')
      const { steps } = JSON.parse(stdout) as Report // as above
      const found = steps.find((one) => one.step === step && one.status === status)
      expect(found?.detail).toContain(text)
      expect(found?.cure !== undefined).toBe(status !== 'pass')
      expect(code).toBe(status === 'fail' ? 1 : 0)
    },
    60_000,
  )

  it('escapes control characters of the server', { timeout: 60_000 }, async () => {
    const url = await started(() => ({ issuer: { issuer: 'https://a/\u001b[2J' } }))
    const { stdout } = await gw('mcp', 'check', url)
    expect(stdout).toContain('names the issuer')
    expect(stdout).not.toContain('\u001b')
  })
})

it('exits with 2 if nothing answers, and with 1 for a wrong URL', { timeout: 60_000 }, async () => {
  const none = await gw('mcp', 'check', `http://127.0.0.1:${await freePort()}/mcp`)
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('cannot reach the MCP server')])
  const wrong = await gw('mcp', 'check', 'mcp.example.com')
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('must be a URL with http or https')])
})
