// Connections that are opened step by step, and what ends them.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { dial, secured } from './connect.ts'
import { ask } from './request.ts'
import { socketClient, tunnel } from './socket-client.ts'

const closing: (() => void)[] = []
const never = new AbortController().signal

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function listening(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const one: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onSocket(socket)
  })
  one.listen(0, '127.0.0.1')
  await once(one, 'listening')
  closing.push(() => {
    one.close()
    for (const socket of sockets) socket.destroy()
  })
  return (one.address() as AddressInfo).port // a listening TCP server has one
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  closing.push(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

describe('dial', () => {
  it('connects only to the address that the lookup returns', async () => {
    const asked: string[] = []
    const port = await listening(() => {})
    const socket = await dial(
      { host: 'idp.invalid', port },
      {
        lookup: (host, _options, answer) => {
          asked.push(host)
          answer(null, [{ address: '127.0.0.1', family: 4 }])
        },
        msMax: 5000,
      },
      never,
    )
    closing.push(() => socket.destroy())
    expect([socket.remoteAddress, socket.remotePort, asked]).toEqual(['127.0.0.1', port, ['idp.invalid']])
  })

  it('fails with the error of the lookup', async () => {
    const lookup = (_host: string, _options: object, answer: (error: Error, addresses: []) => void): void =>
      answer(new Error('address 10.0.0.1 of idp.invalid is not allowed'), [])
    await expect(dial({ host: 'idp.invalid', port: 1 }, { lookup, msMax: 5000 }, never)).rejects.toThrow(
      'address 10.0.0.1 of idp.invalid is not allowed',
    )
  })

  it('rejects after msMax and after an abort', async () => {
    // A lookup that never answers.
    const unanswered = { lookup: () => {}, msMax: 50 }
    await expect(dial({ host: 'idp.invalid', port: 1 }, unanswered, never)).rejects.toThrow('timed out')
    const controller = new AbortController()
    const waiting = dial({ host: 'idp.invalid', port: 1 }, { lookup: () => {}, msMax: 5000 }, controller.signal)
    controller.abort()
    await expect(waiting).rejects.toThrow('timed out')
    await expect(dial({ host: '127.0.0.1', port: 1 }, unanswered, controller.signal)).rejects.toThrow('timed out')
  })
})

describe('secured', () => {
  it('an abort destroys the connection below', async () => {
    const closed = Promise.withResolvers<void>()
    const port = await listening((socket) => void socket.resume().once('close', () => closed.resolve()))
    const controller = new AbortController()
    const waiting = secured(await opened(port), 'idp.test', {}, controller.signal)
    controller.abort()
    await expect(waiting).rejects.toThrow('timed out')
    await closed.promise
  })
})

describe('socketClient', () => {
  it('opens no second connection when the given one is lost', async () => {
    const port = await listening((socket) => void socket.once('data', () => socket.destroy()))
    const client = socketClient(await opened(port))
    closing.push(() => void client.destroy())
    const request = { method: 'GET', path: '/', headers: {}, headMsMax: 5000, idleMsMax: 5000, signal: never } as const
    await expect(ask(client, request)).rejects.toThrow('other side closed')
    await expect(ask(client, request)).rejects.toThrow('the connection was closed')
  })
})

describe('tunnel', () => {
  function proxy(answer: string): Promise<number> {
    return listening((socket) => void socket.once('data', () => socket.write(answer)))
  }

  it('is the same connection afterwards', async () => {
    const port = await listening((socket) => {
      socket.once('data', (head) => {
        expect(String(head)).toMatch(/^CONNECT idp\.test:443 HTTP\/1\.1\r\nhost: idp\.test:443\r\n/)
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.on('data', (bytes) => socket.write(bytes))
      })
    })
    const through = await tunnel(await opened(port), 'idp.test:443', never)
    through.write('ping')
    expect(String((await once(through, 'data'))[0])).toBe('ping')
  })

  it.each([
    ['HTTP/1.1 407 no\r\ncontent-length: 0\r\n\r\n', 'the proxy rejected the tunnel with 407'],
    ['HTTP/1.1 200 OK\r\n\r\nSSH-2.0', 'the proxy sent data after its response'],
    ['SSH-2.0\r\n', /Response does not match the HTTP\/1\.1 protocol/],
  ])('a proxy that answers %j', async (answer, message) => {
    await expect(tunnel(await opened(await proxy(answer)), 'idp.test:443', never)).rejects.toThrow(message)
  })
})
