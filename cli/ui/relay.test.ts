import { createServer, request, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
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

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** With header fields that fetch does not allow. */
function askWith(url: string, headers: OutgoingHttpHeaders): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => (text += more))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
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
    ['another key', 'config_dump', 'AAAA'],
    ['another key in the URL', '?key=AAAA', undefined],
  ])('rejects requests with %s', async (_, path, given) => {
    const response = await fetch(base + path, {
      headers: given === undefined ? {} : { cookie: `${cookie.split('=')[0]}=${given}` },
    })
    expect([response.status, seen]).toEqual([401, []])
  })

  it('rejects requests of other sites and for other hosts', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site' }
    expect((await fetch(base, { headers })).status).toBe(403)
    expect((await fetch(base, { headers: { cookie, origin: 'https://evil.example' } })).status).toBe(403)
    expect((await askWith(base, { cookie, host: 'evil.example' })).status).toBe(403)
    expect((await askWith(base, { cookie, host: 'localhost' })).status).toBe(200)
    expect(seen).toHaveLength(1)
  })

  it('opens for a page of another port of this machine as a page of its own', async () => {
    const headers = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }
    const first = await askWith(relay.url, headers)
    expect([first.status, first.headers['set-cookie']]).toEqual([200, [expect.stringContaining('SameSite=Strict')]])
    expect(first.text).toContain('content="0; url=/ui"')
    expect((await askWith(relay.url, { ...headers, 'sec-fetch-mode': 'cors' })).status).toBe(403)
    expect((await askWith(relay.url, { ...headers, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await askWith(relay.url, { ...headers, host: 'evil.example' })).status).toBe(403)
    expect((await askWith(`${base}ui`, { ...headers, cookie })).status).toBe(403)
    expect(seen).toEqual([])
  })

  it('has a cookie of its own beside another relay', async () => {
    const open = async () => connect(0, '127.0.0.1')
    const other = await startRelay({ label: 'web-2.shop', open })
    const [own = ''] = ((await fetch(other.url, { redirect: 'manual' })).headers.get('set-cookie') ?? '').split(';')
    other.close()
    expect(own.split('=')[0]).not.toBe(cookie.split('=')[0])
    expect((await fetch(`${base}ui`, { headers: { cookie: `${own}; ${cookie}` } })).status).toBe(200)
  })

  it('adds headers for the page, and leads to other relays', async () => {
    const options = {
      headers: { 'gw-relay-target': 'gateway/web -n shop' },
      elsewhere: (path: string) => {
        if (path === '/lost') return Promise.reject(new Error('no running pod'))
        return path === '/gateways/shop/web' ? Promise.resolve('http://127.0.0.1:1/?key=a') : undefined
      },
    }
    const { port } = admin.address() as AddressInfo // a TCP server that listens
    const own = await startRelay({ label: 'controller', open: async () => connect(port, '127.0.0.1') }, options)
    const first = await fetch(own.url, { redirect: 'manual' })
    const headers = { cookie: (first.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
    const ask = (path: string) => fetch(new URL(path, own.url), { headers, redirect: 'manual' })
    const [page, link, lost] = [await ask('/ui'), await ask('/gateways/shop/web'), await ask('/lost')]
    const foreign = await fetch(new URL('/gateways/shop/web', own.url), { redirect: 'manual' })
    own.close()
    expect(page.headers.get('gw-relay-target')).toBe('gateway/web -n shop')
    expect([link.status, link.headers.get('location')]).toEqual([303, 'http://127.0.0.1:1/?key=a'])
    expect([lost.status, await lost.text()]).toEqual([502, 'no running pod\n'])
    expect(foreign.status).toBe(401)
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
