// Sends copies of requests to other backends and drops the responses. A copy has no body, so that it never delays
// the original request (data-plane supplement section 1.2, row 14). Never delays or fails a request.
import type { BackendHandler } from '../../chain/handler.ts'
import { endEndpoint } from '../../backend/health.ts'
import { derive } from '../../exchange/derive.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { OutgoingBody } from '../../message/body.ts'
import { discardBody } from '../../http/body-writer.ts'
import { HttpRequest } from '../../message/message.ts'
import type { NamedFilter } from '../../chain/filter.ts'
import { runChain } from '../../chain/run-chain.ts'

export interface Mirror {
  /** `numerator` of `denominator` requests are copied. */
  readonly numerator: number
  readonly denominator: number
  /** Policies of the backend itself. */
  readonly filters: readonly NamedFilter[]
  readonly handler: BackendHandler
}

export interface MirrorOptions {
  /** Returns [0, 1). */
  readonly random: () => number
  /** Time from the copy to the response, or to its failure. */
  readonly called: (durationMs: number) => void
}

/** Concurrent copies in one worker. Further ones are skipped: slow mirrors must not cost the real traffic memory. */
export const MIRRORS_MAX = 256
const MIRROR_MS_MAX = 15_000
const ANSWER_BYTES_MAX = 65_536
/** They announce a body, which the copy does not have. */
const BODY_FIELDS = ['content-length', 'content-encoding', 'transfer-encoding', 'expect']

let underWay = 0

/** undefined: there is none. */
export function compileMirrors(
  mirrors: readonly Mirror[],
  { random, called }: MirrorOptions,
): ((exchange: Exchange) => void) | undefined {
  if (mirrors.length === 0) return undefined
  return (exchange) => {
    for (const mirror of mirrors) {
      if (underWay >= MIRRORS_MAX) {
        exchange.trace?.write({
          type: 'policyEvent',
          kind: 'mirror',
          details: `skipped: ${MIRRORS_MAX} copies are in progress`,
        })
        return
      }
      if (random() * mirror.denominator < mirror.numerator) send(exchange, mirror, called)
      else exchange.trace?.write({ type: 'policyEvent', kind: 'mirror', details: 'skipped: not in the percentage' })
    }
  }
}

function send(exchange: Exchange, { filters, handler }: Mirror, called: MirrorOptions['called']): void {
  underWay++
  const copy = copyOf(exchange)
  const observed = observe(exchange, copy)
  const answered = (own: Exchange): void => {
    called(performance.now() - copy.startMs)
    if (own.response?.isLocal === false) own.upstreamStatus = own.response.status
    observed?.(own)
    endEndpoint(own, true)
    drop(own.response?.body, () => {
      underWay--
    })
  }
  runChain(filters, copy, 0, (own) => {
    if (own.response === undefined) handler(own, answered)
    else answered(own)
  })
}

/** The copy in the trace and span of the request: the callback for its response. */
function observe(exchange: Exchange, copy: Exchange): ((answered: Exchange) => void) | undefined {
  const { trace } = copy
  if (trace === undefined && exchange.span === undefined) return undefined
  const span = exchange.span?.call({ kind: 'Mirror', subtype: 'Http', target: '', request: copy.request })
  if (span !== undefined) copy.request.headers.set('traceparent', span.traceparent)
  return ({ response, errorDetail, endpoint }) => {
    const status = response?.isLocal === false ? response.status : undefined
    const error = status === undefined ? (errorDetail ?? 'no response') : undefined
    trace?.backendResult({ status, error })
    span?.end({ status, error }, endpoint)
  }
}

function copyOf(exchange: Exchange): Exchange {
  const { method, path, query, host, scheme, version } = exchange.request
  const headers = exchange.request.headers.clone()
  for (const name of BODY_FIELDS) headers.remove(name)
  const request = new HttpRequest({ method, path, query, host, scheme, version, headers })
  const copy = derive(exchange, { request, startMs: performance.now(), scope: 'mirror' })
  copy.matchedPrefix = exchange.matchedPrefix
  copy.hasExplicitHost = exchange.hasExplicitHost
  copy.hostRewriteMode = exchange.hostRewriteMode
  // It continues after the request.
  copy.deadlineMs = copy.startMs + MIRROR_MS_MAX
  copy.deadline = undefined
  return copy
}

/** Small responses are read, so that their connection can be reused; large or slow ones are cut. */
function drop(body: OutgoingBody, done: () => void): void {
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body) || !('tryCollect' in body)) {
    discardBody(body)
    done()
    return
  }
  let isOver = false
  const end = (isWhole: boolean): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    if (!isWhole) discardBody(body)
    done()
  }
  const timer = setTimeout(() => end(false), MIRROR_MS_MAX)
  body.tryCollect(ANSWER_BYTES_MAX).then(
    (whole) => end(whole !== undefined),
    () => end(false),
  )
}
