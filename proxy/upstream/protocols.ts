// Which protocols a connection to a backend offers by ALPN, and what follows from the one that is chosen.
import type net from 'node:net'
import tls from 'node:tls'
import type { BackendHTTP, BackendTLS } from '#api/ir/types.gen.ts'
import type { UpstreamTarget, UpstreamTls } from './target.ts'

export type HttpProtocol = 'h2' | 'http/1.1'

const HTTP: ReadonlySet<string> = new Set<HttpProtocol>(['h2', 'http/1.1'])

/**
 * For a connection that has to speak `protocol`. Of a configured list the other HTTP version is left out; a list
 * without the protocol is offered as it stands, and what the backend makes of it is its answer.
 */
export function offered(protocol: HttpProtocol, { alpnProtocols }: UpstreamTls): string[] {
  if (alpnProtocols === undefined) return [protocol]
  return alpnProtocols.includes(protocol)
    ? alpnProtocols.filter((name) => name === protocol || !HTTP.has(name))
    : [...alpnProtocols]
}

/** What the backend chose in the handshake; undefined: nothing, or there was none. */
export function chosenBy(socket: net.Socket): string | undefined {
  return socket instanceof tls.TLSSocket && typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : undefined
}

/**
 * The HTTP version of a backend. A policy's own is the law; a list of protocols in its TLS settings goes before what
 * the Service declares: with both versions in it the handshake decides.
 */
export function versionOf(
  { http, tls: policy }: { readonly http?: BackendHTTP; readonly tls?: BackendTLS },
  declared: UpstreamTarget['httpVersion'],
): Pick<UpstreamTarget, 'httpVersion' | 'negotiates'> {
  const names = policy?.alpnProtocols
  if (http?.version !== undefined || names === undefined) return { httpVersion: http?.version ?? declared }
  const [takesHttp2, takesHttp1] = [names.includes('h2'), names.includes('http/1.1')]
  if (takesHttp2 && takesHttp1) return { httpVersion: declared, negotiates: true }
  if (takesHttp2) return { httpVersion: 'HTTP2' }
  return { httpVersion: takesHttp1 ? 'HTTP1' : declared }
}
