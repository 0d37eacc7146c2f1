// Policies of calls to upstreams, whoever makes the call: a route, a provider, or another policy (resources supplement
// 4.10, simple backend policies).
import * as z from 'zod'
import { denying, fields, isMap, notServed, oneShape } from './object.ts'
import { cel, duration, fileOrInline, headerName, headerValue, mapOf, text } from './values.ts'

export const DENYING_TLS = ['cert', 'key', 'subjectAltNames', 'keyExchangeGroups'] as const
export const DENYING_AUTH = ['gcp', 'aws', 'azure', 'copilot', 'oauthTokenExchange', 'crossAppAccess'] as const

export const headerModifier = fields({
  add: z.record(headerName, headerValue).optional(),
  set: z.record(headerName, headerValue).optional(),
  remove: z.array(headerName).optional(),
})

export const transform = fields({
  add: z.record(headerName, cel).optional(),
  set: z.record(headerName, cel).optional(),
  remove: z.array(headerName).optional(),
  body: cel.optional(),
  metadata: mapOf(cel).optional(),
  ...notServed(['replace']),
})
export const transformationShape = { request: transform.optional(), response: transform.optional() }
export const transformation = fields(transformationShape)
export const location = fields({
  header: fields({ name: headerName, prefix: headerValue.optional() }).optional(),
  queryParameter: fields({ name: text }).optional(),
  cookie: fields({ name: text }).optional(),
  ...notServed(['expression']),
}).refine((value) => Object.keys(value).length === 1, {
  error: 'must have exactly one of header, queryParameter, cookie',
})
const keyObject = fields({ value: fileOrInline, location: location.optional() })
const keyFile = fields({ file: text })
const authKey = oneShape<string | z.output<typeof keyObject> | z.output<typeof keyFile>>((value) => {
  if (!isMap(value)) return text
  return 'file' in value ? keyFile : keyObject
})
const authObject = fields({
  key: authKey.optional(),
  passthrough: fields({ location: location.optional() }).optional(),
  credentials: z
    .array(fields({ location, key: fileOrInline }))
    .min(1)
    .max(8)
    .optional(),
  ...denying(DENYING_AUTH),
})
export const backendAuth = oneShape<string | z.output<typeof authObject>>((value) => (isMap(value) ? authObject : text))

export const backendTLS = fields({
  root: text.optional(),
  hostname: text.optional(),
  insecure: z.boolean().optional(),
  insecureHost: z.boolean().optional(),
  alpn: z.array(text).min(1).optional(),
  ...denying(DENYING_TLS),
})

export const http = fields({ requestTimeout: duration.optional(), ...notServed(['version']) })
export const tcp = fields({ connectTimeout: duration.optional(), ...notServed(['keepalives']) })

/** Of services that other policies ask. */
export const simplePolicies = fields({
  requestHeaderModifier: headerModifier.optional(),
  transformations: transformation.optional(),
  backendTLS: backendTLS.optional(),
  backendAuth: backendAuth.optional(),
  http: http.optional(),
  tcp: tcp.optional(),
  ...notServed(['backendTunnel']),
})

export type SimplePolicies = z.output<typeof simplePolicies>
