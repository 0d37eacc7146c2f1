// Switches of protocols that bring a body, and answers to them that are not what was asked for: no way around the
// deadline of a body, and no bytes of one message in another.
// @module-tag full
import { afterEach, describe, expect, it } from 'vitest'
import { startProxy, startUpstream, until } from './server.testing.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const FIELDS =
  'host: a\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n' +
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n' +
  'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

/** What the client gets and the backend got; the backend answers once `ready` came. */
async function exchanged(request: string, ready: string, answer: string): Promise<{ text: string; seen: string }> {
  let isAnswered = false
  const upstream = await startUpstream((socket, text) => {
    if (isAnswered || ready === '' || !text.includes(ready)) return
    isAnswered = true
    socket.write(answer)
  })
  const proxy = await startProxy(upstream.port, { limits: { bodyIdleTimeoutMs: 100 } })
  open.push(proxy, upstream)
  const client = await proxy.connect()
  client.send(request)
  await until(() => /HTTP\/1\.1 (?!100)\d{3}/.test(client.text))
  await until(() => upstream.sockets.every((socket) => socket.destroyed))
  return { text: client.text, seen: upstream.received() }
}

describe('a switch of protocols with a body', () => {
  it.each([
    ['with a length', `content-length: 100\r\n\r\nabc`],
    ['in chunks', `transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`],
    ['that waits for a 100', `expect: 100-continue\r\ncontent-length: 3\r\n\r\n`],
  ])('has the deadline of the body: %s', async (_name, rest) => {
    const { text } = await exchanged(`POST / HTTP/1.1\r\n${FIELDS}${rest}`, '', '')
    expect(text.replace('HTTP/1.1 100 Continue\r\n\r\n', '')).toMatch(/^HTTP\/1.1 408 /)
  })

  it.each([
    ['a whole one', `content-length: 3\r\n\r\nabcTUNNEL`],
    ['chunks', `transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n`],
  ])('is a request without a switch, and a 101 for it is a 502: %s', async (_name, rest) => {
    const { text, seen } = await exchanged(`POST / HTTP/1.1\r\n${FIELDS}${rest}`, 'abc', SWITCH)
    expect(text).toMatch(/^HTTP\/1.1 502 /)
    expect(seen.toLowerCase()).not.toMatch(/\r\nupgrade:|tunnel/)
  })
})

describe('a 101', () => {
  it.each([
    ['to another protocol', SWITCH.replace('upgrade: websocket', 'upgrade: h2c')],
    ['to none', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('%s is a 502', async (_name, answer) => {
    const { text } = await exchanged(`GET / HTTP/1.1\r\n${FIELDS}\r\n`, '\r\n\r\n', answer)
    expect(text).toMatch(/^HTTP\/1.1 502 /)
  })
})
