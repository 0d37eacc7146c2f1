import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { type Relay, startRelay } from './relay.ts'

let admin: Server
let relay: Relay
let seen: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[]
let base: string
let cookie: string

beforeEach(async () => {
  seen = []
  admin = createServer((from, to) => {
    let body = ''
    from.setEncoding('utf8').on('data', (text: string) => (body += text))
    from.on('end', () => {
      seen.push({ url: from.url, headers: from.headers, body })
      to.writeHead(200, { 'content-type': 'application/json', 'x-of-admin': '1' }).end('{}')
    })
  })
  const port = await listening(admin)
  relay = await startRelay({
    label: 'web-1.shop',
    token: async () => 'token-of-the-proxy',
    open: async () => connect(port, '127.0.0.1'),
  })
  base = new URL('/', relay.url).href
  const first = await fetch(relay.url, { redirect: 'manual' })
  cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
})

afterEach(() => {
  relay.close()
  closeServer(admin)
})

/** With a Host that fetch does not allow. */
function statusWithHost(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(base, { headers: { host, cookie } }, ({ statusCode }) => resolve(statusCode))
    call.on('error', reject).end()
  })
}

describe('startRelay', () => {
  it('exchanges the key in the URL for a cookie', async () => {
    const { status, headers } = await fetch(relay.url, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([303, '/ui'])
    expect(headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/)
  })

  it('sends requests to the admin server with its token, and without the key', async () => {
    const headers = { cookie, authorization: 'Bearer other' }
    const response = await fetch(`${base}logging?level=debug`, { method: 'POST', headers, body: 'text' })
    expect([response.status, response.headers.get('x-of-admin'), await response.text()]).toEqual([200, '1', '{}'])
    expect(seen).toEqual([{ url: '/logging?level=debug', headers: expect.anything(), body: 'text' }])
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer token-of-the-proxy', host: 'localhost' })
    expect(seen[0]?.headers).not.toHaveProperty('cookie')
  })

  it.each([
    ['no key', 'config_dump', undefined],
    ['another key', 'config_dump', 'gw-ui-key=AAAA'],
    ['another key in the URL', '?key=AAAA', undefined],
  ])('rejects requests with %s', async (_, path, given) => {
    const response = await fetch(base + path, { headers: given === undefined ? {} : { cookie: given } })
    expect([response.status, seen]).toEqual([401, []])
  })

  it('rejects requests of other sites and for other hosts', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site' }
    expect((await fetch(base, { headers })).status).toBe(403)
    expect((await fetch(base, { headers: { cookie, origin: 'https://evil.example' } })).status).toBe(403)
    expect(await statusWithHost('evil.example')).toBe(403)
    expect(await statusWithHost('localhost')).toBe(200)
    expect(seen).toHaveLength(1)
  })

  it('reports a proxy that it cannot reach', async () => {
    const lost = await startRelay({ label: 'web-1.shop', open: () => Promise.reject(new Error('the pod is gone')) })
    const first = await fetch(lost.url, { redirect: 'manual' })
    const [own = ''] = (first.headers.get('set-cookie') ?? '').split(';')
    const response = await fetch(new URL('/ui', lost.url), { headers: { cookie: own } })
    lost.close()
    expect([response.status, await response.text()]).toEqual([
      502,
      'cannot reach the admin server web-1.shop: the pod is gone\n',
    ])
  })
})
