// Connections that come another way: TLS sockets, rewound bytes, shared ports, HTTP/2 by prior knowledge.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http2 from 'node:http2'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import type { Exchange } from '../exchange/exchange.ts'
import { DEFAULT_LIMITS, type RequestHandler } from './handler.ts'
import { HttpResponse } from '../message/message.ts'
import { createHttpServer } from './server.ts'
import { portOf, RawClient, until } from './server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

function handlerSaying(describeIt: (exchange: Exchange) => string): RequestHandler {
  return {
    limits: DEFAULT_LIMITS,
    handle(exchange, respond) {
      exchange.response = HttpResponse.local(200, describeIt(exchange))
      respond(exchange)
    },
    finished() {},
    transferred() {},
    refused() {},
  }
}

describe('sockets made elsewhere', () => {
  it('serves TLS connections: scheme, SNI, keep-alive, large responses', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gw-server-'))
    const [keyFile, certificateFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const curve = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=a',
    ]
    execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', keyFile, '-out', certificateFile], {
      stdio: 'ignore',
    })
    const [key, cert] = [readFileSync(keyFile, 'utf8'), readFileSync(certificateFile, 'utf8')]
    rmSync(directory, { recursive: true })
    const big = 'x'.repeat(3_000_000)
    const server = createHttpServer(
      handlerSaying((exchange) => `${exchange.request.scheme} ${exchange.connection.sni} ${big}`),
    )
    const front = tls.createServer({ key, cert, allowHalfOpen: true }, (socket) => {
      server.acceptSocket(socket)
    })
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    const socket = tls.connect({ port: portOf(front), servername: 'a.test', rejectUnauthorized: false })
    open.push(front, { close: () => socket.destroy() }, { close: () => server.destroyAll() })
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    socket.write(GET + GET)
    await until(() => text.split('https a.test').length === 3 && text.endsWith('x') && text.length > 2 * big.length)
    expect(server.openConnections).toBe(1)
    socket.end()
    await until(() => server.openConnections === 0)
  })

  it('begins with bytes that were read already, and believes given addresses', async () => {
    const server = createHttpServer(handlerSaying(() => 'own'))
    const other = handlerSaying(({ connection }) => `${connection.sourceAddress}:${connection.sourcePort}`)
    const front = net.createServer({ allowHalfOpen: true }, (socket) => {
      server.acceptSocket(socket, other, {
        early: Buffer.from(GET.slice(0, 10)),
        facts: { sourceAddress: '192.0.2.7', sourcePort: 7 },
      })
    })
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    open.push(front, { close: () => server.destroyAll() })
    const client = await RawClient.connect(portOf(front))
    client.send(GET.slice(10))
    await client.sees('192.0.2.7:7')
    expect(client.text).not.toContain('own')
  })

  it('two workers share one port', async () => {
    const [first, second] = [createHttpServer(handlerSaying(() => '1')), createHttpServer(handlerSaying(() => '2'))]
    const port = await first.listen({ host: '127.0.0.1', port: 0, reusePort: true })
    expect(await second.listen({ host: '127.0.0.1', port, reusePort: true })).toBe(port)
    const third = createHttpServer(handlerSaying(() => '3'))
    await expect(third.listen({ host: '127.0.0.1', port, reusePort: false })).rejects.toThrow('EADDRINUSE')
    first.stopAccepting()
    second.stopAccepting()
    const client = net.connect(port, '127.0.0.1')
    const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNREFUSED')
  })

  it('hands a connection with the HTTP/2 preface over, and still serves HTTP/1.1 on the port', async () => {
    const server = createHttpServer(
      handlerSaying(() => 'one'),
      (socket, early, { facts }) => {
        socket.unshift(early)
        const session = http2.performServerHandshake(socket)
        session.on('stream', (stream) => {
          stream.respond({ ':status': 200 })
          stream.end(`two for ${facts.sourceAddress}`)
        })
      },
    )
    const port = await server.listen({ host: '127.0.0.1', port: 0, reusePort: false })
    open.push({ close: () => server.stopAccepting() }, { close: () => server.destroyAll() })
    const session = http2.connect(`http://127.0.0.1:${port}`)
    for (let i = 0; i < 3; i++) {
      const stream = session.request({ ':path': '/' })
      let text = ''
      for await (const chunk of stream) text += String(chunk)
      expect(text).toBe('two for 127.0.0.1')
    }
    session.destroy()
    const client = await RawClient.connect(port)
    client.send(GET)
    await client.sees('one')
    expect(server.openConnections).toBe(1)
  })
})
