// Serves the admin server of a proxy to a browser of this machine. The relay adds the token of the proxy, so it accepts
// only requests with its own key: in the URL that is opened, later in a cookie.
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
const COOKIE = 'gw-ui-key'
const COOKIE_KEY = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)(?:;|$)`)
const FIRST_PATH = '/ui'
/** Fields of the browser that mean nothing to the proxy, or that the relay sets. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['authorization', 'connection', 'cookie', 'host', 'origin'])

/** On a loopback port that the system chooses. */
export async function startRelay(transport: AdminTransport): Promise<Relay> {
  const key = randomBytes(KEY_BYTES).toString('base64url')
  const server = createServer((from, to) => {
    if (!isTrustedHost(from.headers.host, undefined) || !isSameOrigin(from.headers)) {
      refuse(to, 403, 'requests of other sites are not allowed')
    } else if (isKey(keyInUrl(from), key)) {
      const cookie = `${COOKIE}=${key}; HttpOnly; SameSite=Strict; Path=/`
      to.writeHead(303, { location: FIRST_PATH, 'set-cookie': cookie, 'referrer-policy': 'no-referrer' }).end()
    } else if (isKey(keyInCookie(from), key)) void relay(transport, from, to)
    else refuse(to, 401, 'open the URL that gw ui has printed')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server that listens
  return {
    url: `http://127.0.0.1:${port}/?key=${key}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function relay(transport: AdminTransport, from: IncomingMessage, to: ServerResponse): Promise<void> {
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
      to.writeHead(response.statusCode ?? 502, headers)
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

function keyInCookie({ headers: { cookie = '' } }: IncomingMessage): string | undefined {
  return COOKIE_KEY.exec(cookie)?.[1]
}

/** Takes as long for a wrong key as for the right one. */
function isKey(given: string | undefined, key: string): boolean {
  const [one, other] = [given ?? '', key].map((text) => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}
