// Policies that call a service for each request, as fields of the contract. The service becomes a separate backend
// unless the file names one.
import type {
  ExtAuth as RenderedExtAuth,
  ExtAuthOrConditional as RenderedExtAuthOrConditional,
  ExtProc as RenderedExtProc,
  ExtProcOrConditional,
  InferenceRouting as RenderedInferenceRouting,
  RateLimitGlobal as RenderedRateLimit,
  RateLimitGlobalOrConditional,
} from '#api/ir/types.gen.ts'
import { parseDuration } from '#api/units/duration.ts'
import { pathTo } from '../field-path.ts'
import type {
  ExtAuthz,
  ExtAuthzOrConditional,
  ExtProc,
  InferenceRouting,
  PlainExtProc,
  PlainRateLimit,
  RemoteRateLimit,
} from '../schema/external.ts'
import type { BuildContext } from './context.ts'
import { renderEntries } from './conditional.ts'
import { defined, ifSet } from './defined.ts'
import { expressions } from './headers.ts'
import { serviceOf } from './simple-policies.ts'

const UNITS = { second: 'Second', minute: 'Minute', hour: 'Hour', day: 'Day', month: 'Month', year: 'Year' } as const

export function renderExtAuthOrConditional(
  value: ExtAuthzOrConditional,
  path: string,
  context: BuildContext,
): RenderedExtAuthOrConditional {
  if (!('conditional' in value)) return renderExtAuth(value, path, context)
  return renderEntries(value.conditional, (policy, index) =>
    renderExtAuth(policy, pathTo(path, 'conditional', index), context),
  )
}

export function renderExtAuth(value: ExtAuthz, path: string, context: BuildContext): RenderedExtAuth {
  const { protocol, failureMode = 'deny', includeRequestHeaders, includeRequestBody, cache } = value
  return {
    service: serviceOf(value, path, context),
    failureMode: failureMode === 'allow' ? 'FailOpen' : 'FailClosed',
    ...(typeof failureMode === 'object' && { denyStatus: failureMode.denyWithStatus }),
    ...renderProtocol(protocol ?? {}),
    ...defined({
      allowedRequestHeaders: includeRequestHeaders,
      forwardBody: ifSet(includeRequestBody, ({ maxRequestBytes, packAsBytes }) => ({
        bytesMax: maxRequestBytes,
        ...defined({ packAsBytes }),
      })),
      cache: ifSet(cache, renderCache),
    }),
  }
}

function renderProtocol({ grpc, http }: NonNullable<ExtAuthz['protocol']>): Pick<RenderedExtAuth, 'grpc' | 'http'> {
  if (http === undefined) {
    const { context, metadata } = grpc ?? {}
    return { grpc: defined({ contextExtensions: context, requestMetadata: ifSet(metadata, expressions) }) }
  }
  const { path, redirect, body, includeResponseHeaders, addRequestHeaders, metadata } = http
  return {
    http: defined({
      path,
      redirect,
      body,
      allowedResponseHeaders: includeResponseHeaders,
      addRequestHeaders: ifSet(addRequestHeaders, expressions),
      responseMetadata: ifSet(metadata, expressions),
    }),
  }
}

/** Responses with a lifetime of zero are not cached. */
function renderCache({ key, ttl, maxEntries }: NonNullable<ExtAuthz['cache']>): RenderedExtAuth['cache'] {
  const duration = parseDuration(ttl)
  if ('ms' in duration && duration.ms === 0) return undefined
  return { key, ...('ms' in duration ? { ttlMs: duration.ms } : { ttl }), ...defined({ entriesMax: maxEntries }) }
}

export function renderInferenceRouting(
  { endpointPicker, failureMode }: InferenceRouting,
  path: string,
  context: BuildContext,
): RenderedInferenceRouting {
  return {
    picker: serviceOf(endpointPicker, pathTo(path, 'endpointPicker'), context),
    failureMode: failureMode === 'failOpen' ? 'FailOpen' : 'FailClosed',
  }
}

export function renderExtProc(value: ExtProc, path: string, context: BuildContext): ExtProcOrConditional {
  if (!('conditional' in value)) return renderPlainExtProc(value, path, context)
  return renderEntries(value.conditional, (policy, index) =>
    renderPlainExtProc(policy, pathTo(path, 'conditional', index), context),
  )
}

function renderPlainExtProc(value: PlainExtProc, path: string, context: BuildContext): RenderedExtProc {
  const { metadataContext, requestAttributes, responseAttributes, processingOptions: options } = value
  return {
    service: serviceOf(value, path, context),
    failureMode: value.failureMode === 'failOpen' ? 'FailOpen' : 'FailClosed',
    ...defined({
      metadataContext: ifSet(metadataContext, (namespaces) =>
        Object.entries(namespaces).map(([namespace, values]) => ({ namespace, values: expressions(values) })),
      ),
      requestAttributes: ifSet(requestAttributes, expressions),
      responseAttributes: ifSet(responseAttributes, expressions),
      processingOptions: ifSet(options, renderOptions),
    }),
  }
}

const PART_MODE = { send: 'Send', skip: 'Skip' } as const
const BODY_MODE = {
  none: 'None',
  buffered: 'Buffered',
  bufferedPartial: 'BufferedPartial',
  fullDuplexStreamed: 'FullDuplexStreamed',
} as const

function renderOptions(options: NonNullable<PlainExtProc['processingOptions']>): RenderedExtProc['processingOptions'] {
  return defined({
    requestBodyMode: ifSet(options.requestBodyMode, (mode) => BODY_MODE[mode]),
    responseBodyMode: ifSet(options.responseBodyMode, (mode) => BODY_MODE[mode]),
    requestHeaderMode: ifSet(options.requestHeaderMode, (mode) => PART_MODE[mode]),
    responseHeaderMode: ifSet(options.responseHeaderMode, (mode) => PART_MODE[mode]),
    requestTrailerMode: ifSet(options.requestTrailerMode, (mode) => PART_MODE[mode]),
    responseTrailerMode: ifSet(options.responseTrailerMode, (mode) => PART_MODE[mode]),
    allowModeOverride: options.allowModeOverride,
  })
}

export function renderRateLimitGlobal(
  value: RemoteRateLimit,
  path: string,
  context: BuildContext,
): RateLimitGlobalOrConditional {
  if (!('conditional' in value)) return renderPlainRateLimitGlobal(value, path, context)
  return renderEntries(value.conditional, (policy, index) =>
    renderPlainRateLimitGlobal(policy, pathTo(path, 'conditional', index), context),
  )
}

function renderPlainRateLimitGlobal(value: PlainRateLimit, path: string, context: BuildContext): RenderedRateLimit {
  return {
    service: serviceOf(value, path, context),
    failureMode: value.failureMode === 'failOpen' ? 'FailOpen' : 'FailClosed',
    domain: value.domain,
    descriptors: value.descriptors.map(({ entries, type, cost, limitOverride }) => ({
      unit: type === 'tokens' ? 'Tokens' : 'Requests',
      entries: entries.map(({ key, value: expression }) => ({ name: key, expression })),
      ...defined({
        cost,
        limitOverride: ifSet(limitOverride, ({ requestsPerUnit, unit }) => ({ requestsPerUnit, unit: UNITS[unit] })),
      }),
    })),
  }
}
