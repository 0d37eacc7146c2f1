// A proxy between the gateway and a backend (`backend.tunnel`): what goes through it by CONNECT, and what is handed to
// it with an absolute URI (docs/adr/0008).
import type net from 'node:net'
import { isIP } from 'node:net'
import type { HeaderList } from '../message/headers.ts'
import { isAuthority } from '../message/authority.ts'
import { ResponseParser } from '../http/response-parser.ts'
import { BAD_VALUE } from '../message/head-text.ts'
import type { UpstreamTarget } from './target.ts'

/** What decides how a call goes through a proxy. */
export interface TunnelledCall {
  readonly target: UpstreamTarget
  /** Value of the Host header. */
  readonly authority: string
  readonly isTunnel: boolean
  readonly upgrade: string | undefined
}

/**
 * Plain HTTP/1.1 is handed to the proxy with an absolute URI. It cannot be where the backend is to see another Host
 * than its address (a proxy makes Host from the URI, RFC 9112 section 3.2.2), where it speaks TLS, or where bytes
 * follow that are no HTTP: those go by CONNECT.
 */
export function isForwarded(call: TunnelledCall): boolean {
  const { host, port, tls, unixPath, tunnel } = call.target
  if (tunnel !== undefined && 'open' in tunnel.way) return false
  if (tls !== undefined || unixPath !== undefined || call.isTunnel || call.upgrade !== undefined) return false
  const name = isIP(host) === 6 ? `[${host}]` : host.toLowerCase()
  const authority = call.authority.toLowerCase()
  return authority === `${name}:${port}` || (port === 80 && authority === name)
}

/** Fields of a request that goes to the proxy as such: none of the client's credentials, all of ours. */
export function forwardedFields(headers: HeaderList, own: readonly string[]): HeaderList {
  const fields = headers.clone()
  fields.remove('proxy-authorization')
  for (let i = 0; i < own.length; i += 2) fields.set(own[i] ?? '', own[i + 1] ?? '')
  return fields
}

const ANSWER_LIMITS = { headersMax: 64, headerBytesMax: 16_384 } as const
const INTERIM_MAX = 4
const ASKED = { isHead: false, preservesCase: false } as const

/** `authority`: `host:port`, in ASCII. @throws {Error} for what would break the message. */
export function connectHead(authority: string, headers: readonly string[]): string {
  if (!isAuthority(authority)) throw new Error(`${authority} is not a host and port`)
  let text = `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n`
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] ?? ''
    if (BAD_VALUE.test(value))
      throw new Error(`the value of ${headers[i]} has characters that are not allowed in a header`)
    text += `${headers[i]}: ${value}\r\n`
  }
  return `${text}\r\n`
}

export interface TunnelAnswer {
  /** undefined: the tunnel is open. */
  readonly problem: string | undefined
  /** Undefined: there was no answer, or none that can be read. */
  readonly status: number | undefined
}

/**
 * Asks the proxy at the other end of a fresh socket for a connection. `done` once; the socket is then paused, and bytes
 * behind the answer are back in it. Ends by the caller's deadline or abort.
 */
export function askForTunnel(socket: net.Socket, head: string, done: (answer: TunnelAnswer) => void): void {
  const parser = new ResponseParser(ANSWER_LIMITS)
  let interims = 0
  const finish = (problem: string | undefined, status?: number, rest?: Buffer): void => {
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.off('close', onEnd)
    socket.pause()
    if (rest !== undefined && rest.length > 0) socket.unshift(rest)
    done({ problem, status })
  }
  const onEnd = (): void => finish('the proxy closed the connection')
  const onData = (chunk: Buffer): void => {
    let at = 0
    while (at < chunk.length) {
      const answer = parser.feed(chunk, { start: at, end: chunk.length }, ASKED)
      if (answer === undefined) return
      if ('code' in answer) {
        finish(`the proxy returned an invalid response: ${answer.detail}`)
        return
      }
      at = parser.next
      if (answer.status >= 200) {
        finish(verdictOn(answer.status), answer.status, chunk.subarray(at))
        return
      }
      if (++interims > INTERIM_MAX) {
        finish('the proxy sent too many interim responses')
        return
      }
    }
  }
  socket.on('data', onData)
  socket.on('end', onEnd)
  socket.on('close', onEnd)
  socket.write(head, 'latin1')
  socket.resume()
}

/** 200 and nothing else opens a tunnel (data-plane supplement section 5.3): other 2xx are something unexpected. */
function verdictOn(status: number): string | undefined {
  if (status === 200) return undefined
  return status === 407 ? 'the proxy requires credentials (407)' : `the proxy answered ${status}`
}
