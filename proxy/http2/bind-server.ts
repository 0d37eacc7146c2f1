// The server of one bind: HTTP/1.1 and HTTP/2 on the same port, distinguished by ALPN or by the first bytes.
import type net from 'node:net'
import type { Exchange } from '../exchange/exchange.ts'
import type { RequestHandler } from '../http/handler.ts'
import { createHttpServer, factsOf, type HttpServer, type IdleConnection } from '../http/server.ts'
import { createHttp2Server, type Http2Server } from './server.ts'

export type BindHttpServer = HttpServer & Pick<Http2Server, 'serveHttp2Socket' | 'sweep'>

export function createBindServer(handler: RequestHandler): BindHttpServer {
  const own = { current: handler }
  const http2 = createHttp2Server()
  const http1 = createHttpServer(handler, (socket, early, { facts, slot }) => {
    // The server's own connections follow `setHandler`, others the slot they came with.
    http2.serveHttp2Socket(socket, facts, slot, early)
  })
  return {
    listen: (options) => http1.listen(options),
    setHandler(next) {
      own.current = next
      http1.setHandler(next)
    },
    acceptSocket(socket, given = own, extra = {}) {
      if (!isHttp2(socket)) {
        http1.acceptSocket(socket, given, extra)
        return
      }
      const slot = 'current' in given ? given : { current: given }
      const facts = { ...factsOf(socket), ...extra.facts }
      if (slot.current.admits?.(facts) === false) socket.destroy()
      else http2.serveHttp2Socket(socket, facts, slot, extra.early)
    },
    serveHttp2Socket: (socket, facts, slot, early) => http2.serveHttp2Socket(socket, facts, slot, early),
    sweep: (nowMs) => http2.sweep(nowMs),
    stopAccepting: () => http1.stopAccepting(),
    drain() {
      http1.drain()
      http2.drain()
    },
    destroyAll() {
      http1.destroyAll()
      http2.destroyAll()
    },
    get openConnections() {
      return http1.openConnections + http2.openConnections
    },
    get activeRequests() {
      return http1.activeRequests + http2.activeRequests
    },
    *running(): IterableIterator<Exchange> {
      yield* http1.running()
      yield* http2.running()
    },
    *idle(): IterableIterator<IdleConnection> {
      yield* http1.idle()
      yield* http2.idle()
    },
    get bufferedBytes() {
      return http1.bufferedBytes + http2.bufferedBytes
    },
  }
}

/** The TLS handshake agreed on it. */
function isHttp2(socket: net.Socket): boolean {
  return 'alpnProtocol' in socket && socket.alpnProtocol === 'h2'
}
