// The plan of gw proxy trace, from its flags. Pure: mistakes are values.
import { type ProxyTarget, type TargetFlags, targetOf } from '../portforward/targets.ts'

export interface TraceFlags extends TargetFlags {
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
      readonly target: ProxyTarget
      readonly expression: string | undefined
      readonly injection: Injection | undefined
    }

type Planned<T> = T | { readonly problem: string }

const WEB_URL = /^https?:\/\//i

/** What follows the command: a resource, and after `--` the request. */
export interface TraceArguments {
  readonly resource: string | undefined
  readonly request: readonly string[]
}

/** `count`: of arguments after `--`. They are the last ones. A URL is a request without `--` too. */
export function splitArguments(all: readonly string[], count: number): Planned<TraceArguments> {
  if (count === 0 && WEB_URL.test(all[0] ?? '')) return { resource: undefined, request: all }
  const before = all.slice(0, all.length - count)
  const [resource, other] = before
  if (other !== undefined) return { problem: `${other}: pass the URL and the arguments for curl after --` }
  return { resource, request: all.slice(before.length) }
}

export function planTrace(flags: TraceFlags, { resource, request }: TraceArguments): Planned<TracePlan> {
  if (flags.file !== undefined) return planFile(flags, flags.file, { resource, request })
  if (flags.allNamespaces === true) return { problem: 'a trace follows one request: name a resource in place of -A' }
  const target = targetOf(flags, resource)
  if ('problem' in target) return target
  const injection = planRequest(flags.port, request)
  if (injection !== undefined && 'problem' in injection) return injection
  return { kind: 'live', target, expression: flags.expression, injection }
}

function planFile(flags: TraceFlags, file: string, { resource, request }: TraceArguments): Planned<TracePlan> {
  if (flags.local === true) return { problem: '--file shows a saved trace: omit --local' }
  if (resource !== undefined) return { problem: `--file shows a saved trace: omit ${resource}` }
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
  const [first = ''] = request
  if (!WEB_URL.test(first))
    return { problem: `${first}: the first argument after -- must be a http:// or https:// URL` }
  if (port === undefined) return { problem: 'a URL requires --port, the port of the listener' }
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
