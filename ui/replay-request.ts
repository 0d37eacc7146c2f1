// The request of a trace, to be edited and sent again. Pure.
import { listenersOf } from '#cli/proxy/rows.ts'
import type { Dump, TraceEvent } from './api.ts'
import type { GatewayRequest } from './gateway-call.ts'

export interface ReplayedRequest {
  readonly method: string
  readonly url: string
  /** Of the listener; empty: that of the URL. */
  readonly port: string
  /** One `name: value` a line. */
  readonly headers: string
  readonly body: string
}

type RequestState = Readonly<Record<'method' | 'uri', string>> & {
  readonly headers?: Readonly<Record<string, unknown>>
}

/** The proxy sets them for the new request. */
const LEFT_OUT =
  /^(?:host|connection|content-length|expect|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i

/** undefined: the request was rejected before its head was read. */
export function requestOf(events: readonly TraceEvent[], dump: Dump): ReplayedRequest | undefined {
  const own = events.filter(({ scope = [] }) => scope.length === 0).map(({ message }) => message)
  const state = own.find(({ requestState }) => requestState !== undefined)?.requestState
  const request = state?.['request'] as RequestState | undefined // proxy/trace/snapshot.ts
  if (request === undefined) return undefined
  const { gateway, listener } = own.find(({ type, phase }) => type === 'policySelection' && phase === 'gateway') ?? {}
  const { body = '' } = own.find(({ type, stage }) => type === 'bodySnapshot' && stage === 'final request') ?? {}
  return {
    method: request.method,
    url: request.uri,
    port: portOf(dump, gateway, listener),
    headers: linesOf(request.headers ?? {}),
    body: new TextDecoder().decode(Uint8Array.from(atob(body), (character) => character.charCodeAt(0))),
  }
}

function portOf(dump: Dump, gateway: string | undefined, name: string | undefined): string {
  const found = listenersOf(dump).find(
    ({ listener }) =>
      listener.listenerName === name && `${listener.gatewayNamespace}/${listener.gatewayName}` === gateway,
  )
  return /:(\d+)$/.exec(found?.address ?? '')?.[1] ?? ''
}

function linesOf(headers: Readonly<Record<string, unknown>>): string {
  return Object.entries(headers)
    .filter(([name]) => !LEFT_OUT.test(name))
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one: unknown) => `${name}: ${String(one)}`),
    )
    .join('\n')
}

export function gatewayRequestOf({ method, url, port, headers, body }: ReplayedRequest): GatewayRequest {
  const lines = headers.split('\n').filter((line) => line.trim() !== '')
  return {
    url,
    method,
    ...(port !== '' && { port: Number(port) }),
    headers: lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
    ...(body !== '' && { body }),
  }
}

/** The command that sends the request to the same listener on this machine. */
export function curlOf(request: ReplayedRequest): string {
  const { url, method, port, headers = [], body } = gatewayRequestOf(request)
  return [
    `curl -i ${quoted(url)} -X ${quoted(method)}`,
    ...(port === undefined ? [] : [`--connect-to ::127.0.0.1:${port}`]),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ')
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
