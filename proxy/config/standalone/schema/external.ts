// Policies that call a service for each request: authorization and global rate limits (resources supplement 4.10).
import * as z from 'zod'
import { parseDuration } from '#api/units/duration.ts'
import { orConditional } from './conditional.ts'
import { currentMoment, evaluatedAt, evaluatedBy } from './moment.ts'
import { fields, isMap, notServed, oneShape, ONE_FIELD } from './object.ts'
import { placeShape, simplePolicies } from './upstream.ts'
import { cel, count, headerName, mapOf, text } from './values.ts'

/** The address of the service: next to the other fields, or below `target`. */
export const serviceShape = {
  ...placeShape,
  target: fields(placeShape).optional(),
  policies: simplePolicies.optional(),
}

const changedPart = z.enum([':method', ':authority'])
const addedHeader = oneShape<string>(
  (value) => (typeof value === 'string' && value.startsWith(':') ? changedPart : headerName),
  [changedPart, headerName],
)

const grpc = fields({ context: mapOf(z.string()).optional(), metadata: mapOf(cel).optional() })
const http = fields({
  path: cel.optional(),
  // Evaluated after the response of the service, as metadata is.
  redirect: evaluatedAt('response', cel).optional(),
  body: cel.optional(),
  includeResponseHeaders: z.array(headerName).optional(),
  addRequestHeaders: z.record(addedHeader, cel).optional(),
  metadata: evaluatedAt('response', mapOf(cel)).optional(),
})
const protocol = fields({ grpc: grpc.optional(), http: http.optional() })
  .refine((value) => Object.keys(value).length === 1, { error: 'must have exactly one of grpc, http' })
  .meta(ONE_FIELD)

const failureWord = z.enum(['deny', 'allow'])
const failureStatus = fields({ denyWithStatus: z.int().min(200).max(599) })
const failureMode = oneShape<z.output<typeof failureWord> | z.output<typeof failureStatus>>(
  (value) => (isMap(value) ? failureStatus : failureWord),
  [failureStatus, failureWord],
)

/** Pseudo-headers are also allowed. */
const pseudoHeader = z.enum([':method', ':path', ':scheme', ':authority'])
const sentHeader = oneShape<string>(
  (value) => (typeof value === 'string' && value.startsWith(':') ? pseudoHeader : headerName),
  [pseudoHeader, headerName],
)

const timeToLive = oneShape<string>(
  (value) => (typeof value === 'string' && 'ms' in parseDuration(value) ? text : cel),
  [text, cel],
)

const extAuthzShape = {
  ...serviceShape,
  protocol: protocol.optional(),
  failureMode: failureMode.optional(),
  includeRequestHeaders: z.array(sentHeader).optional(),
  includeRequestBody: fields({
    maxRequestBytes: count,
    packAsBytes: z.boolean().optional(),
    allowPartialMessage: z
      .literal(false, { error: 'is not supported by this version of the proxy: remove it' })
      .optional(),
  }).optional(),
  cache: fields({
    key: z.array(cel).min(1),
    ttl: timeToLive,
    maxEntries: count.optional(),
  }).optional(),
  ...notServed(
    ['path', 'redirect', 'body', 'includeResponseHeaders', 'addRequestHeaders', 'metadata'],
    ' here; set it in protocol.http',
  ),
}
export const extAuthz = fields(extAuthzShape)
export const extAuthzOrConditional = orConditional(extAuthzShape)

const partMode = z.enum(['send', 'skip'])
const bodyMode = z.enum(['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed'])
const extProcShape = {
  ...serviceShape,
  failureMode: z.enum(['failClosed', 'failOpen']).optional(),
  // Evaluated for each side: expressions may read the response on the second.
  metadataContext: evaluatedAt('response', mapOf(mapOf(cel))).optional(),
  requestAttributes: mapOf(cel).optional(),
  responseAttributes: evaluatedAt('response', mapOf(cel)).optional(),
  processingOptions: fields({
    requestBodyMode: bodyMode.optional(),
    responseBodyMode: bodyMode.optional(),
    requestHeaderMode: partMode.optional(),
    responseHeaderMode: partMode.optional(),
    requestTrailerMode: partMode.optional(),
    responseTrailerMode: partMode.optional(),
    allowModeOverride: z.boolean().optional(),
  }).optional(),
}
const plainExtProc = fields(extProcShape)
export const extProc = orConditional(extProcShape)

/** Tokens are charged after the request. */
const descriptor = evaluatedBy(
  (value) => (isMap(value) && value['type'] === 'tokens' ? 'log' : currentMoment()),
  fields({
    entries: z.array(fields({ key: text, value: cel })).min(1),
    type: z.enum(['requests', 'tokens']).optional(),
    cost: cel.optional(),
    limitOverride: fields({
      requestsPerUnit: z.int().min(0).max(4_294_967_295),
      unit: z.enum(['second', 'minute', 'hour', 'day', 'month', 'year']),
    }).optional(),
  }),
)
const rateLimitShape = {
  ...serviceShape,
  domain: text,
  descriptors: z.array(descriptor).min(1),
  failureMode: z.enum(['failClosed', 'failOpen']).optional(),
}
const plainRateLimit = fields(rateLimitShape)
export const remoteRateLimit = orConditional(rateLimitShape)

/** For backends that are services: the picker names one of their endpoints. */
export const inferenceRouting = fields({
  endpointPicker: fields(serviceShape),
  failureMode: z.enum(['failClosed', 'failOpen']).optional(),
})

/** As in a GwPolicy. */
const METHOD = /^([*]|[^*]+[*]?|[*][^*]+)$/
const method = text.regex(METHOD, { error: 'must be a method, or have one * as its first or last character or alone' })
const processor = fields({
  ...serviceShape,
  kind: z.literal('remote').optional(),
  ...notServed(['when', 'reject'], '; use mcpAuthorization to reject calls'),
  ...notServed(['transform'], '; use a service to change calls and results'),
  methods: z.record(method, z.enum(['off', 'request', 'response', 'full'])),
  failureMode: z.enum(['failClosed', 'failOpen']).optional(),
  metadata: mapOf(cel).optional(),
  requestHeaders: fields({
    allowed: z.array(sentHeader).optional(),
    disallowed: z.array(sentHeader).optional(),
  }).optional(),
})
/** Evaluated also for results of servers. */
export const mcpGuardrails = evaluatedAt('backend', fields({ processors: z.array(processor).min(1).max(16) }))

export type InferenceRouting = z.output<typeof inferenceRouting>
export type McpGuardrails = z.output<typeof mcpGuardrails>
export type ExtAuthz = z.output<typeof extAuthz>
export type ExtAuthzOrConditional = z.output<typeof extAuthzOrConditional>
export type PlainExtProc = z.output<typeof plainExtProc>
export type ExtProc = z.output<typeof extProc>
export type PlainRateLimit = z.output<typeof plainRateLimit>
export type RemoteRateLimit = z.output<typeof remoteRateLimit>
