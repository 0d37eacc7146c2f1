// The plan of gw proxy trace, from its flags. Pure: mistakes are values.
import type { AdminTransport } from '../portforward/admin-client.ts'
import { transportsOf } from '../portforward/targets.ts'

export interface TraceFlags {
  readonly local?: boolean
  readonly adminAddr: string
  readonly raw?: boolean
  readonly expression?: string
  readonly port?: number
  readonly file?: string
}

/** A request that curl sends. */
export interface Injection {
  readonly args: readonly string[]
  /** Host and port of the URLs, as in `--connect-to`. */
  readonly authority: string
  readonly port: number
}

export type TracePlan =
  | { readonly kind: 'file'; readonly file: string }
  | {
      readonly kind: 'live'
      readonly admin: AdminTransport
      readonly expression: string | undefined
      readonly injection: Injection | undefined
    }

type Planned<T> = T | { readonly problem: string }

const WEB_URL = /^https?:\/\//i

export function planTrace(flags: TraceFlags, request: readonly string[]): Planned<TracePlan> {
  if (flags.file !== undefined) return planFile(flags, flags.file, request)
  if (flags.local !== true) return { problem: 'pass --local for a proxy on this machine, or --file for a saved trace' }
  const transports = transportsOf(flags)
  if ('problem' in transports) return transports
  const [admin] = transports
  if (admin === undefined) return { problem: 'no proxy found' }
  const injection = planRequest(flags.port, request)
  if (injection !== undefined && 'problem' in injection) return injection
  return { kind: 'live', admin, expression: flags.expression, injection }
}

function planFile(flags: TraceFlags, file: string, request: readonly string[]): Planned<TracePlan> {
  if (flags.local === true) return { problem: '--file shows a saved trace: omit --local' }
  if (flags.expression !== undefined) return { problem: '--file shows a saved trace: omit --expression' }
  if (request.length > 0 || flags.port !== undefined) {
    return { problem: '--file shows a saved trace: omit --port and the URL' }
  }
  return { kind: 'file', file }
}

function planRequest(port: number | undefined, request: readonly string[]): Planned<Injection> | undefined {
  if (request.length === 0) {
    return port === undefined ? undefined : { problem: '--port requires a request to send: add -- and its URL' }
  }
  if (port === undefined) return { problem: 'a URL requires --port, the port of the listener' }
  const [first = ''] = request
  if (!WEB_URL.test(first))
    return { problem: `${first}: the first argument after -- must be a http:// or https:// URL` }
  const authorities = new Set<string>()
  for (const text of urlsOf(request)) {
    const authority = authorityOf(text)
    if (authority === undefined) return { problem: `${text}: is not a URL` }
    authorities.add(authority)
  }
  const [authority = '', other] = authorities
  if (other !== undefined) return { problem: `all URLs must have the same host and port: ${authority}, ${other}` }
  return { args: request, authority, port }
}

/** The argument after an option is its value, such as a referrer. */
function urlsOf(request: readonly string[]): string[] {
  return request.filter((text, i) => WEB_URL.test(text) && (i === 0 || request[i - 1]?.startsWith('-') !== true))
}

function authorityOf(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return undefined
  const standard = url.protocol === 'https:' ? '443' : '80'
  return `${url.hostname}:${url.port === '' ? standard : url.port}`
}
