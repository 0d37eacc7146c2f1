// Requests over kept connections: deadlines, bodies that come in parts, and TLS as a kubeconfig asks for it.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { authority, certificateFor, type KeyPair } from '#test/certificates.ts'
import { connectionPool, type Connections, type ServerTls } from './pool.ts'
import { ask, type HttpAnswer, type HttpRequest } from './request.ts'

const closing: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function listening(one: Server): Promise<number> {
  one.listen(0, '127.0.0.1')
  await once(one, 'listening')
  closing.push(() => {
    one.close()
    one.closeAllConnections()
  })
  return (one.address() as AddressInfo).port // a listening TCP server has one
}

function poolTo(port: number, tls?: ServerTls, connectionsMax = 4): Connections {
  const origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  const pool = connectionPool({ origin, tls, connectionsMax, connectMsMax: 5000 })
  closing.push(() => pool.destroy())
  return pool
}

async function plainPool(listener: RequestListener): Promise<Connections> {
  return poolTo(await listening(createServer(listener)))
}

function get(pool: Connections, options: Partial<HttpRequest> = {}): Promise<HttpAnswer> {
  const deadlines = { headMsMax: 30_000, idleMsMax: 30_000, signal: new AbortController().signal }
  return ask(pool, { method: 'GET', path: '/', headers: {}, ...deadlines, ...options })
}

async function textOf({ body }: HttpAnswer): Promise<string> {
  let text = ''
  for await (const part of body) text += Buffer.from(part).toString('utf8')
  return text
}

describe('requests', () => {
  it('send method, path, headers and body as they are', async () => {
    const pool = await plainPool((request, response) => {
      const { method, url, headers } = request
      request.setEncoding('utf8').on('data', (body: string) => {
        response.end(JSON.stringify([method, url, headers['content-type'], headers['accept-encoding'] ?? '', body]))
      })
    })
    const headers = { 'content-type': 'text/x' }
    const answer = await get(pool, { method: 'PATCH', path: '/a?b=%20', headers, body: 'ü' })
    expect(JSON.parse(await textOf(answer))).toEqual(['PATCH', '/a?b=%20', 'text/x', '', 'ü'])
  })

  it('reuse a connection one after the other', async () => {
    const sockets = new Set<Socket>()
    const pool = await plainPool(({ socket }, response) => {
      sockets.add(socket)
      response.end('x')
    })
    for (let count = 0; count < 9; count++) await textOf(await get(pool))
    // The body may end a moment before its connection is free.
    expect(sockets.size).toBeLessThanOrEqual(2)
  })

  it('use one connection each when concurrent, up to the bound', async () => {
    let open = 0
    let most = 0
    const pool = poolTo(
      await listening(
        createServer((_request, response) => {
          most = Math.max(most, ++open)
          setImmediate(() => {
            open--
            response.end('x')
          })
        }),
      ),
      undefined,
      3,
    )
    const answers = await Promise.all(Array.from({ length: 20 }, async () => textOf(await get(pool))))
    expect(answers).toEqual(Array.from({ length: 20 }, () => 'x'))
    expect(most).toBeLessThanOrEqual(3)
  })

  it('follow no redirect and try nothing twice', async () => {
    let asked = 0
    const pool = await plainPool(({ url }, response) => {
      asked++
      if (url === '/gone') response.destroy()
      else response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await get(pool)).status).toBe(302)
    await expect(get(pool, { path: '/gone' })).rejects.toThrow('other side closed')
    expect(asked).toBe(2)
  })
})

describe('deadlines', () => {
  it('for the head of the answer', async () => {
    const pool = await plainPool(() => {})
    await expect(get(pool, { headMsMax: 50 })).rejects.toThrow('no response within 50 ms')
  })

  it('between two parts of the body', async () => {
    const pool = await plainPool((_request, response) => void response.write('first'))
    const { status, body } = await get(pool, { idleMsMax: 50 })
    expect(status).toBe(200)
    const parts: string[] = []
    const read = async (): Promise<void> => {
      for await (const part of body) parts.push(Buffer.from(part).toString('utf8'))
    }
    await expect(read()).rejects.toThrow('no data for 50 ms')
    expect(parts).toEqual(['first'])
  })

  it('an abort ends the body and the connection', async () => {
    const closed = Promise.withResolvers<void>()
    const pool = await plainPool((_request, response) => {
      response.once('close', closed.resolve)
      response.write('first')
    })
    const controller = new AbortController()
    const answer = await get(pool, { signal: controller.signal })
    const text = textOf(answer)
    controller.abort(new Error('enough'))
    await expect(text).rejects.toThrow('enough')
    await closed.promise
  })

  it('an abort removes a request that waits for a connection', async () => {
    const held = Promise.withResolvers<void>()
    const pool = poolTo(
      await listening(createServer((_request, response) => void held.promise.then(() => response.end('x')))),
      undefined,
      1,
    )
    const first = get(pool)
    const controller = new AbortController()
    const second = get(pool, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    held.resolve()
    expect(await textOf(await first)).toBe('x')
  })
})

describe('bodies', () => {
  it('are read only as fast as the reader takes them', async () => {
    const PARTS = 256
    const part = Buffer.alloc(64 * 1024)
    let written = 0
    const pool = await plainPool((_request, response) => {
      const write = (): void => {
        while (written < PARTS) {
          written++
          if (!response.write(part)) return void response.once('drain', write)
        }
        response.end()
      }
      write()
    })
    const { body } = await get(pool)
    const parts = body[Symbol.asyncIterator]()
    await parts.next()
    // The server continues until the buffers of both sides are full; then nothing moves any more.
    let before = -1
    await expect
      .poll(() => {
        const isStill = written === before
        before = written
        return isStill
      })
      .toBe(true)
    expect(written).toBeLessThan(PARTS)
    let size = part.length
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) size += next.value.length
    expect(size).toBeGreaterThan(PARTS * part.length - part.length)
  })

  it('throw when they are incomplete', async () => {
    const pool = await plainPool((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"keys"', () => response.destroy())
    })
    await expect(get(pool).then(textOf)).rejects.toThrow(/broke off|closed/)
  })

  it('close the connection when they are not read to their end', async () => {
    const closed = Promise.withResolvers<void>()
    const pool = await plainPool((_request, response) => {
      response.once('close', closed.resolve)
      response.write('first')
    })
    for await (const part of (await get(pool)).body) {
      expect(Buffer.from(part).toString('utf8')).toBe('first')
      break
    }
    await closed.promise
  })
})

describe('TLS', () => {
  let ca: KeyPair
  let server: KeyPair
  let client: KeyPair

  beforeAll(() => {
    ca = authority()
    server = certificateFor({ commonName: 'api', names: ['DNS:kubernetes.default.svc'], issuer: ca })
    client = certificateFor({ commonName: 'gw', issuer: ca })
  })

  async function asked(tls: ServerTls, options: object = {}): Promise<string> {
    const identity = { cert: server.certificate, key: server.privateKey }
    const port = await listening(
      createTlsServer({ ...identity, ...options }, (_request, response) => response.end('x')),
    )
    return get(poolTo(port, tls)).then(textOf, (error: unknown) => (error instanceof Error ? error.message : ''))
  }

  it('verifies authority and name', async () => {
    const servername = 'kubernetes.default.svc'
    expect(await asked({ ca: ca.certificate, servername })).toBe('x')
    expect(await asked({ servername })).toMatch(/unable to|self.signed|verify/)
    expect(await asked({ ca: ca.certificate })).toMatch(/not in the cert|does not match/)
    expect(await asked({ ca: ca.certificate, servername: 'other.svc' })).toMatch(/not in the cert|does not match/)
  })

  it('skips verification only where that is set', async () => {
    expect(await asked({ rejectUnauthorized: false })).toBe('x')
    expect(await asked({ rejectUnauthorized: true })).toMatch(/unable to|self.signed|verify/)
  })

  it('shows the client certificate', async () => {
    const trust = { ca: ca.certificate, servername: 'kubernetes.default.svc' }
    const asking = { requestCert: true, rejectUnauthorized: true, ca: ca.certificate }
    expect(await asked({ ...trust, cert: client.certificate, key: client.privateKey }, asking)).toBe('x')
    expect(await asked(trust, asking)).not.toBe('x')
  })
})
