// The server of a bind by what its port speaks.
import type { CompiledBind } from '../config/compiled.ts'
import { createBindServer } from '../http2/bind-server.ts'
import { TcpBind } from './tcp-bind.ts'
import { TlsBind } from './tls-bind.ts'
import type { DnsCache } from '../upstream/dns-cache.ts'
import { HttpBind } from './http-bind.ts'
import type { BindContext, BindServer } from './worker-parts.ts'

/** Makes the servers of one worker. `dns`: for connections that are passed on. */
export function serverFactory(dns: DnsCache): (bind: CompiledBind, context: BindContext) => BindServer {
  return (bind, { observer, tickets }) => {
    const { layer4, handler } = bind
    const server =
      layer4 === undefined
        ? new HttpBind(createBindServer(handler), handler)
        : layer4.kind === 'TCP'
          ? new TcpBind(layer4, { dns, observer })
          : new TlsBind(layer4, {
              dns,
              observer,
              tickets,
              createHttp: ({ current }) => createBindServer(current),
            })
    server.apply(bind)
    return server
  }
}
