// Serves the admin server of a proxy or of a controller to a browser of this machine. The relay adds the token of the
// proxy, so it accepts only requests with its own key: in the URL that is opened, later in a cookie.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '#proxy/exchange/diagnosis.ts'
import { isSameOrigin, isTrustedHost } from '#proxy/admin/browser-guard.ts'
import type { AdminTransport } from '../portforward/admin-client.ts'

export interface Relay {
  /** With the key. */
  readonly url: string
  close(): void
}

const KEY_BYTES = 32
const FIRST_PATH = '/ui'
/** A page of another port opened this one: a redirect would keep that page as its origin. */
const FIRST_PAGE = `<!doctype html><meta http-equiv="refresh" content="0; url=${FIRST_PATH}"><title>Gw</title>`
/** Fields of the browser that mean nothing to the proxy, or that the relay sets. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['authorization', 'connection', 'cookie', 'host', 'origin'])

export interface RelayOptions {
  /** For responses: see `api/admin/relay-headers.ts`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The URL to open for a path, with the key of another relay; undefined: the path is one of the admin server. */
  readonly elsewhere?: (path: string) => Promise<string> | undefined
}

/** On a loopback port that the system chooses. */
export async function startRelay(transport: AdminTransport, options: RelayOptions = {}): Promise<Relay> {
  const key = randomBytes(KEY_BYTES).toString('base64url')
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server that listens
  // Cookies belong to a host with all its ports.
  const name = `gw-ui-key-${port}`
  server.on('request', (from, to) => {
    const isForeign = !isTrustedHost(from.headers.host, undefined) || !isSameOrigin(from.headers)
    if (isKey(keyInUrl(from), key) && (!isForeign || isPageOfMachine(from))) {
      const cookie = `${name}=${key}; HttpOnly; SameSite=Strict; Path=/`
      const headers = { 'set-cookie': cookie, 'referrer-policy': 'no-referrer' }
      if (isForeign) to.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(FIRST_PAGE)
      else to.writeHead(303, { ...headers, location: FIRST_PATH }).end()
    } else if (isForeign) refuse(to, 403, 'requests of other sites are not allowed')
    else if (!isKey(keyInCookie(from, name), key)) refuse(to, 401, 'open the URL that gw ui has printed')
    else void answer({ transport, options, from, to })
  })
  return {
    url: `http://127.0.0.1:${port}/?key=${key}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface Call {
  readonly transport: AdminTransport
  readonly options: RelayOptions
  readonly from: IncomingMessage
  readonly to: ServerResponse
}

async function answer(call: Call): Promise<void> {
  const { options, from, to } = call
  try {
    const url = await options.elsewhere?.(from.url ?? '/')
    if (url === undefined) await relay(call)
    else to.writeHead(303, { location: url, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }).end()
  } catch (error) {
    refuse(to, 502, messageOf(error))
  }
}

async function relay({ transport, options, from, to }: Call): Promise<void> {
  try {
    const token = await transport.token?.()
    const stream = await transport.open()
    stream.on('error', (error) => refuse(to, 502, messageOf(error)))
    to.on('close', () => stream.destroy())
    const kept = Object.entries(from.headers).filter(([name]) => !OWN_FIELDS.has(name))
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const call = request({
      method: from.method ?? 'GET',
      path: from.url ?? '/',
      // The admin server accepts only host names of its machine.
      headers: { ...Object.fromEntries(kept), ...authorization, host: 'localhost', connection: 'close' },
      createConnection: () => stream,
    })
    call.on('error', (error) => refuse(to, 502, messageOf(error)))
    call.on('response', (response) => {
      const { connection: _, ...headers } = response.headers
      to.writeHead(response.statusCode ?? 502, { ...headers, ...options.headers })
      response.pipe(to)
    })
    from.pipe(call)
  } catch (error) {
    refuse(to, 502, `cannot reach the admin server ${transport.label}: ${messageOf(error)}`)
  }
}

/** A response that has begun is cut. */
function refuse(to: ServerResponse, status: number, text: string): void {
  if (to.headersSent) to.destroy()
  else to.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}

function keyInUrl({ url = '' }: IncomingMessage): string | undefined {
  return /^\/\?key=([\w-]+)$/.exec(url)?.[1]
}

function keyInCookie({ headers: { cookie = '' } }: IncomingMessage, name: string): string | undefined {
  return new RegExp(`(?:^|; )${name}=([\\w-]+)(?:;|$)`).exec(cookie)?.[1]
}

/** A page of another port of this machine leads to this one, and the browser opens it as a page of its own. */
function isPageOfMachine({ headers }: IncomingMessage): boolean {
  return (
    isTrustedHost(headers.host, undefined) &&
    headers['sec-fetch-site'] === 'same-site' &&
    headers['sec-fetch-mode'] === 'navigate'
  )
}

/** Takes as long for a wrong key as for the right one. */
function isKey(given: string | undefined, key: string): boolean {
  const [one, other] = [given ?? '', key].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}
