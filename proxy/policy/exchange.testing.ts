// Exchanges and a compile environment for tests and benchmarks; not used by the proxy.
import { compilePermissive } from '#api/cel/compile.ts'
import type { CelExpression } from '#api/cel/expression.ts'
import type { RateLimitOrConditional, RenderedConfig } from '#api/ir/types.gen.ts'
import { AuthStores } from '../auth/auth-stores.ts'
import { WorkerTokenStore } from '../credentials/token-store.ts'
import { Exchange, type Connection } from '../exchange/exchange.ts'
import { HeaderList } from '../message/headers.ts'
import { HttpRequest, HttpResponse } from '../message/message.ts'
import type { CompiledPolicy } from '../chain/filter.ts'
import type { PolicyEnvironment } from '../chain/environment.ts'
import { createRateLimitBuffer, keyedLimits, sharedRateLimitStore } from './limits/rate-limit-store.ts'

export interface ExchangeParts {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  readonly host?: string
  readonly scheme?: 'http' | 'https'
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string
  readonly localPort?: number
}

export function exchangeOf(parts: ExchangeParts = {}): Exchange {
  const request = new HttpRequest({
    method: parts.method ?? 'GET',
    path: parts.path ?? '/',
    query: parts.query ?? '',
    host: parts.host ?? 'example.com',
    scheme: parts.scheme ?? 'http',
    version: 'HTTP/1.1',
    headers: HeaderList.of(parts.headers ?? []),
  })
  if (parts.body !== undefined) request.body = Buffer.from(parts.body)
  const connection: Connection = {
    id: 1,
    sourceAddress: '10.0.0.1',
    sourcePort: 40_000,
    localAddress: '10.0.0.2',
    localPort: parts.localPort ?? 80,
    isTls: parts.scheme === 'https',
    sni: undefined,
    signal: new AbortController().signal,
    close() {},
    cut: () => true,
  }
  return new Exchange(connection, request, performance.now())
}

/** A response as a backend returns it. */
export function upstreamResponse(
  headers: readonly (readonly [string, string])[] = [],
  body?: HttpResponse['body'],
): HttpResponse {
  return new HttpResponse(200, HeaderList.of(headers), body, false)
}

const cache = new Map<string, CelExpression>()

export function expression(source: string): CelExpression {
  let compiled = cache.get(source)
  if (compiled === undefined) {
    compiled = compilePermissive(source)
    cache.set(source, compiled)
  }
  return compiled
}

const NO_CONFIG: RenderedConfig = {
  version: 2,
  binds: [],
  listeners: [],
  routes: [],
  tcpRoutes: [],
  backends: [],
  policies: [],
  services: [],
  workloads: [],
}

/** The inputs of policies that check credentials, with these secrets. */
export function authEnvironment(
  secrets: Readonly<Record<string, string>> = {},
): Pick<PolicyEnvironment, 'auth' | 'secret' | 'expression' | 'origin' | 'mcpSignIn'> {
  const values = new Map(Object.entries(secrets))
  const secret: PolicyEnvironment['secret'] = (ref) => values.get(ref.secret)
  const mcpSignIn = { redirectUris: undefined, sealKeys: [new Uint8Array(32)] }
  return { auth: AuthStores.of(NO_CONFIG, { secret }), secret, expression, origin: noOrigin, mcpSignIn }
}

function noOrigin(): never {
  throw new Error('no server is called in this test')
}

/** With full buckets for `limits` under the policy key `test`. */
export function environmentOf(limits?: RateLimitOrConditional, nowMs = Date.now()): PolicyEnvironment {
  const entries = limits === undefined ? [] : keyedLimits('test', limits).flatMap(({ policy }) => policy)
  const known = new Map(entries.map(({ key, limit }) => [key, limit]))
  const rateLimits = sharedRateLimitStore(createRateLimitBuffer(known, nowMs))
  return {
    ...authEnvironment(),
    rateLimits,
    policyKey: 'test',
    tokens: new WorkerTokenStore(),
    service: () => undefined,
  }
}

/** Runs the request side of a synchronous policy. */
export function runRequest(policy: CompiledPolicy, exchange: Exchange): HttpResponse | undefined {
  const verdict = policy.request?.(exchange)
  if (verdict instanceof Promise) throw new Error('the filter answered later')
  if (verdict !== undefined) exchange.response = verdict
  return verdict
}

/** Runs the response side of a synchronous policy. */
export function runResponse(policy: CompiledPolicy, exchange: Exchange): HttpResponse | undefined {
  const verdict = policy.response?.(exchange)
  if (verdict instanceof Promise) throw new Error('the filter answered later')
  if (verdict !== undefined) exchange.response = verdict
  return exchange.response
}

/** A body in memory; undefined for a missing or streamed body. */
export function textOf(body: HttpResponse['body']): string | undefined {
  if (Buffer.isBuffer(body)) return body.toString()
  return typeof body === 'string' ? body : undefined
}

export function fieldsOf(list: HeaderList): string[] {
  return [...list].map(([name, value]) => `${name}: ${value}`)
}

/** Pairs of queued response headers. */
export function queuedOf(exchange: Exchange): string[] {
  const queued = exchange.queuedResponseHeaders ?? []
  return queued.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${queued[i + 1]}`] : []))
}
