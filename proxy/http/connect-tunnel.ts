// `frontend.connect` with mode Tunnel: CONNECT is answered with 200, and what comes through it is a new connection to
// the port it names. Everything else goes to the bind's own handler.
import type { Exchange } from '../exchange/exchange.ts'
import { pipe } from '../socket/pipe.ts'
import type { EnterBind } from './enter-bind.ts'
import type { ConnectionFacts } from '../socket/connection-facts.ts'
import type { RequestHandler } from './handler.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import { NO_USER, Transport } from '../socket/transport.ts'
import { Tunnel } from '../socket/tunnel.ts'

const NOTHING = Buffer.alloc(0)

export interface ConnectTunnelOptions {
  readonly enter: EnterBind
  /** Connections through the tunnel have the identity of the client that opened it: it is a workload of a mesh. */
  readonly keepsPeer?: boolean
}

export function connectTunnel(handler: RequestHandler, options: ConnectTunnelOptions): RequestHandler {
  return {
    limits: handler.limits,
    admits: handler.admits,
    proxyProtocol: handler.proxyProtocol,
    handle(exchange, respond) {
      if (exchange.request.method !== 'CONNECT') handler.handle(exchange, respond)
      else {
        open(exchange, options)
        respond(exchange)
      }
    },
    finished: (exchange, isComplete) => handler.finished(exchange, isComplete),
    transferred: (bytes) => handler.transferred(bytes),
    refused: (info) => handler.refused(info),
  }
}

function open(exchange: Exchange, { enter, keepsPeer = false }: ConnectTunnelOptions): void {
  const { connection, request } = exchange
  // The bytes after a rejected CONNECT are not requests, even if they look like requests.
  if (request.version !== 'HTTP/2') connection.close()
  if (request.body !== undefined) exchange.fail('invalidRequest', 'CONNECT with a body')
  // Tunnels through tunnels would let one request cost any number of connections.
  else if (connection.origin?.connectHeaders !== undefined) exchange.fail('methodNotAllowed')
  else {
    const { near, far } = pipe()
    const port = Number(/:([0-9]{1,5})$/.exec(request.host)?.[1] ?? 0)
    // Before the other bind sees its end, so that nothing it does is missed.
    const transport = Transport.ofSocket(near, NO_USER)
    transport.pause()
    const facts = factsOf(exchange)
    if (enter(port, far, keepsPeer ? { ...facts, peer: exchange.connection.peer } : facts)) {
      exchange.response = new HttpResponse(200, new HeaderList(), new Tunnel(transport, NOTHING, undefined), true)
    } else {
      near.destroy()
      far.destroy()
      exchange.fail('bindNotFound')
    }
  }
}

/** The new connection belongs to the client; TLS, if any, starts again. */
function factsOf({ connection, request }: Exchange): ConnectionFacts {
  const { sourceAddress, sourcePort, localAddress, localPort, origin } = connection
  const own = origin ?? { address: sourceAddress, port: sourcePort }
  return {
    sourceAddress,
    sourcePort,
    localAddress,
    localPort: Number(/:([0-9]{1,5})$/.exec(request.host)?.[1] ?? localPort),
    isTls: false,
    sni: undefined,
    origin: { ...own, connectHeaders: request.headers },
  }
}
