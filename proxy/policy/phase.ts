// Before or after routing: which policies may run when nothing is known of the route yet.
import type { TrafficPayload } from '#api/ir/types.gen.ts'

export type Phase = 'PreRouting' | 'PostRouting'

/** A new policy does not compile without an answer here. */
const RUNS_BEFORE_ROUTING: { readonly [K in keyof Required<TrafficPayload>]: boolean } = {
  deny: true,
  timeout: false,
  cors: true,
  jwtAuth: true,
  basicAuth: true,
  apiKey: true,
  extAuthz: true,
  authorization: true,
  retry: false,
  localRateLimit: false,
  remoteRateLimit: false,
  buffer: false,
  extProc: true,
  transformation: true,
  csrf: false,
  requestHeaderModifier: false,
  responseHeaderModifier: false,
  hostRewrite: false,
  urlRewrite: false,
  requestRedirect: false,
  delay: false,
  directResponse: false,
  requestMirror: false,
}

export function runsBeforeRouting(field: keyof TrafficPayload): boolean {
  return RUNS_BEFORE_ROUTING[field]
}
