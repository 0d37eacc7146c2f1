// frontend.http: limits of the gateway for clients.
import { once } from 'node:events'
import http, { Agent } from 'node:http'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { expect } from 'vitest'
import { changing, replacing, type ConformanceCase } from './suite/case.ts'
import { chat } from './suite/chat.ts'
import { NAMES } from './suite/echo.ts'

const SAMPLE = 'frontend-http.yaml'

/** All bytes that the gateway sends on one connection until it closes it. */
async function untilClosed(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = once(socket, 'end')
  socket.write(text)
  await ended
  socket.destroy()
  return Buffer.concat(chunks).toString('latin1')
}

/** The connection header of the response to the agent. */
async function connectionField(url: string, agent: Agent): Promise<string | undefined> {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(`${url}/x`, { agent, headers: { host: 'shop.example.com' } }, resolve).on('error', reject)
  })
  response.resume()
  await once(response, 'end')
  return response.headers.connection
}

function request(fields: readonly string[]): string {
  return ['GET /x HTTP/1.1', 'Host: shop.example.com', ...fields, '', ''].join('\r\n')
}

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'FrontendHTTPLimits',
    description: 'too many header fields get 431, a larger LLM request than may be buffered gets 413',
    sample: SAMPLE,
    async run(gateway) {
      const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '1']))
      // Host and connection count too.
      expect((await gateway.ask('/', { headers: fields(14) })).status).toBe(200)
      expect((await gateway.ask('/', { headers: fields(15) })).status).toBe(431)
      expect((await chat(gateway, 'hello')).status).toBe(200)
      expect((await chat(gateway, 'x'.repeat(1024))).status).toBe(413)
      const plain = await gateway.echo('/', { method: 'POST', body: 'x'.repeat(5000) })
      expect(plain.body?.length).toBe(5000)
    },
  },
  {
    shortName: 'FrontendHTTPHeaderCase',
    description: 'names of header fields keep their case',
    sample: SAMPLE,
    async run(gateway) {
      const answer = await untilClosed(gateway.port, request(['Connection: close']))
      expect(answer).toContain('\r\nx-powered-by: echo\r\n')
      expect(answer).toContain('\r\nDate: ')
      const { names } = await gateway.echo(NAMES, { headers: { 'X-MixedCase': '1', 'x-lower': '1', 'X-UPPER': '1' } })
      expect(names).toEqual(expect.arrayContaining(['X-MixedCase', 'x-lower', 'X-UPPER']))
    },
  },
  {
    shortName: 'FrontendHTTPLowercase',
    description: 'without Preserve names are written in lower case',
    sample: SAMPLE,
    change: replacing('http1HeaderCase: Preserve', 'http1HeaderCase: Lowercase'),
    async run(gateway) {
      const answer = await untilClosed(gateway.port, request(['Connection: close']))
      expect(answer).toContain('\r\ndate: ')
      const { names } = await gateway.echo(NAMES, { headers: { 'X-MixedCase': '1' } })
      expect(names).toContain('x-mixedcase')
    },
  },
  {
    shortName: 'FrontendHTTPIdleTimeout',
    description: 'a connection without a request is closed',
    sample: SAMPLE,
    change: replacing('http1IdleTimeout: 1m', 'http1IdleTimeout: 1s'),
    async run(gateway) {
      expect(await untilClosed(gateway.port, request([]))).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    },
  },
  {
    shortName: 'FrontendHTTPMaxConnectionDuration',
    description: 'a connection that is older than allowed ends with its next response, which has connection: close',
    sample: SAMPLE,
    change: replacing('maxConnectionDuration: 10m', 'maxConnectionDuration: 1s'),
    async run(gateway) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      try {
        await expect.poll(() => connectionField(gateway.url, agent), { timeout: 10_000 }).toBe('close')
      } finally {
        agent.destroy()
      }
    },
  },
  {
    shortName: 'FrontendHTTP2Settings',
    description: 'HTTP/2 clients get windows, frame size and header size in SETTINGS, and a PING when they are idle',
    sample: SAMPLE,
    change: changing('GwPolicy/frontend-http', {
      frontend: {
        http: {
          http2WindowSize: '128Ki',
          http2ConnectionWindowSize: '2Mi',
          http2FrameSize: '32Ki',
          http2MaxHeaderSize: '8Ki',
          http2KeepaliveInterval: '1s',
          http2KeepaliveTimeout: '30s',
        },
      },
    }),
    async run(gateway) {
      const session = http2.connect(gateway.url)
      const pinged = once(session, 'ping')
      try {
        const [settings]: unknown[] = await once(session, 'remoteSettings')
        expect(settings).toMatchObject({ initialWindowSize: 131_072, maxFrameSize: 32_768, maxHeaderListSize: 8192 })
        await expect.poll(() => session.state.remoteWindowSize).toBe(2 * 1024 * 1024)
        await pinged
      } finally {
        session.destroy()
      }
    },
  },
  {
    shortName: 'FrontendHTTP2KeepaliveTimeout',
    description: 'the connection of an HTTP/2 client that answers no PING is closed',
    sample: SAMPLE,
    change: changing('GwPolicy/frontend-http', {
      frontend: { http: { http2KeepaliveInterval: '1s', http2KeepaliveTimeout: '1s' } },
    }),
    async run(gateway) {
      // The preface and empty SETTINGS; the client answers no frame.
      const hello = Buffer.concat([
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        Buffer.from('000000040000000000', 'hex'),
      ])
      expect(await untilClosed(gateway.port, hello)).not.toBe('')
    },
  },
]
