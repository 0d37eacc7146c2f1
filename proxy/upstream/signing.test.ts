// Signatures over whole requests: what signers get, what is sent, and what happens without one.
import { afterEach, describe, expect, it } from 'vitest'
import {
  answering,
  OK,
  type Proxy,
  startProxy,
  startUpstream,
  targetOf,
  until,
  type Upstream,
} from '../http/server.testing.ts'
import { HeaderList } from '../message/headers.ts'
import { madeStream } from '../message/made-stream.ts'
import type { RequestSigner, SignableRequest } from '../message/request-signer.ts'
import { createUpstreamClient } from './client.ts'

const BODY_BYTES_MAX = 16

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const sign: RequestSigner = ({ method, pathAndQuery, authority, body }) => {
  const text = `${method} ${pathAndQuery} ${authority} ${body?.toString() ?? '-'}`
  return Promise.resolve({ fields: [['authorization', `Signed ${text}`]] })
}

async function start(signer: RequestSigner): Promise<{ proxy: Proxy; upstream: Upstream }> {
  const upstream = await startUpstream(answering(OK))
  const proxy = await startProxy(upstream.port, {
    handle: (exchange, respond, { client }) => {
      exchange.flow = { bodyBytesMax: BODY_BYTES_MAX }
      exchange.request.signer = signer
      client.forward(exchange, targetOf(upstream.port), 'backend:80', respond)
    },
  })
  open.push(proxy, upstream)
  return { proxy, upstream }
}

async function answerTo(proxy: Proxy, request: string): Promise<string> {
  const client = await proxy.connect()
  client.send(request)
  await until(() => client.text.includes('\r\n\r\n'))
  return client.text
}

describe('forwarded requests', () => {
  it('are signed over the whole body and the host that is sent', async () => {
    const { proxy, upstream } = await start(sign)
    const chunked =
      'POST /p?q=1 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'
    expect(await answerTo(proxy, chunked)).toContain('200 OK')
    const sent = upstream.received()
    expect(sent).toContain('authorization: Signed POST /p?q=1 backend hello\r\n')
    expect(sent).toContain('host: backend\r\n')
    expect(sent).toContain('content-length: 5\r\n')
    expect(proxy.handled[0]?.request.loggedHeaders.get('authorization')).toBe('<redacted>')
  })

  it('are rejected with 413 over the limit of bodies, and nothing is sent', async () => {
    const { proxy, upstream } = await start(sign)
    const large = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 17\r\n\r\n${'x'.repeat(BODY_BYTES_MAX + 1)}`
    expect(await answerTo(proxy, large)).toContain('HTTP/1.1 413 ')
    expect(upstream.sockets).toHaveLength(0)
  })

  it('fail with 500 without a signature, and the cause is in the log only', async () => {
    const { proxy, upstream } = await start(() => Promise.resolve({ problem: 'token endpoint down' }))
    const text = await answerTo(proxy, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    expect(text).toContain('HTTP/1.1 500 ')
    expect(text).toContain('backend authentication failed: the request could not be signed')
    expect(proxy.handled[0]?.errorDetail).toBe('token endpoint down')
    expect(upstream.sockets).toHaveLength(0)
  })

  it('are not sent when the client leaves before the signature is there', async () => {
    const { promise, resolve } = Promise.withResolvers<SignableRequest>()
    const release = Promise.withResolvers<void>()
    const { proxy, upstream } = await start(async (request) => {
      resolve(request)
      await release.promise
      return { fields: [] }
    })
    const client = await proxy.connect()
    client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await promise
    const gone = proxy.handled[0]?.connection.signal
    client.socket.destroy()
    await until(() => gone?.aborted === true)
    release.resolve()
    await until(() => proxy.finished.length === 1)
    expect(upstream.sockets).toHaveLength(0)
  })
})

describe('calls of the proxy', () => {
  const request = { method: 'POST', pathAndQuery: '/', authority: 'b', headers: new HeaderList() }
  const options = { deadlineMs: Infinity, signal: undefined }

  it('are signed, and fail when the body is a stream', async () => {
    const upstream = await startUpstream(answering(OK))
    const client = createUpstreamClient()
    open.push(client, upstream)
    const target = targetOf(upstream.port)
    const answer = await client.send(target, { ...request, body: Buffer.from('x'), signer: sign }, options)
    expect(answer.status).toBe(200)
    expect(upstream.received()).toContain('authorization: Signed POST / b x\r\n')
    const body = madeStream((async function* () {})(), () => {})
    await expect(client.send(target, { ...request, body, signer: sign }, options)).rejects.toMatchObject({
      code: 'backendAuthFailed',
    })
  })
})
