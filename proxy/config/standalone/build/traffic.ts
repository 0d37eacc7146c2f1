// Policies of routes and listeners, as traffic fields of the contract.
import type {
  Authorization,
  Cors as RenderedCors,
  LocalLimit,
  RateLimitOrConditional,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import type { Built, TRAFFIC, WrittenAtGateway, WrittenIn } from '../coverage.ts'
import { pathTo } from '../field-path.ts'
import {
  DENYING_GATEWAY,
  DENYING_TRAFFIC,
  type Cors,
  type GatewayPolicies,
  type Limit,
  type LocalRateLimit,
  type RoutePolicies,
} from '../schema/policies.ts'
import { renderAuthentication } from './authentication.ts'
import type { BuildContext } from './context.ts'
import { renderEntries } from './conditional.ts'
import { defined, ifSet } from './defined.ts'
import { denialOf } from './denial.ts'
import { renderExtAuthOrConditional, renderExtProc, renderRateLimitGlobal } from './external.ts'
import {
  renderDirectResponse,
  renderModifier,
  renderRedirect,
  renderRewrite,
  renderTransformations,
} from './headers.ts'
import { renderBuffer, renderDelay, renderMirror, renderRetry } from './resilience.ts'
import { renderRules } from './rules.ts'

export interface TrafficPolicies {
  /** Without authorization, which may have several rules. */
  readonly payload: TrafficPayload
  readonly rules: readonly Authorization[]
}

/** Rules are built separately: there may be several. */
type RouteFields = Built<TrafficPayload, Exclude<WrittenIn<typeof TRAFFIC>, 'authorization'>>
type GatewayFields = Built<TrafficPayload, Exclude<WrittenAtGateway<typeof TRAFFIC>, 'authorization'>>

export function gatewayTraffic(policies: GatewayPolicies, path: string, context: BuildContext): TrafficPolicies {
  const { authorization, cors, transformations, extAuthz, extProc } = policies
  return {
    payload: defined({
      deny: denialOf({ names: DENYING_GATEWAY, policies, path }, context),
      cors: cors && renderCors(cors),
      transformation: transformations && renderTransformations(transformations),
      ...renderAuthentication(policies, path, context),
      extAuth: ifSet(extAuthz, (value) => renderExtAuthOrConditional(value, pathTo(path, 'extAuthz'), context)),
      extProc: ifSet(extProc, (value) => renderExtProc(value, pathTo(path, 'extProc'), context)),
    } satisfies GatewayFields),
    rules: renderRules(authorization, pathTo(path, 'authorization'), context),
  }
}

export function routeTraffic(policies: RoutePolicies, path: string, context: BuildContext): TrafficPolicies {
  const rewrites = ifSet(policies.urlRewrite, (value) => renderRewrite(value, pathTo(path, 'urlRewrite'), context))
  return {
    payload: defined({
      deny: denialOf({ names: DENYING_TRAFFIC, policies, path }, context),
      timeouts: ifSet(policies.timeout, ({ requestTimeout, backendRequestTimeout }) =>
        defined({ requestMs: requestTimeout, backendRequestMs: backendRequestTimeout }),
      ),
      retry: ifSet(policies.retry, renderRetry),
      delay: ifSet(policies.delay, renderDelay),
      buffer: ifSet(policies.buffer, renderBuffer),
      requestMirror: ifSet(policies.requestMirror, (value) => [
        renderMirror(value, pathTo(path, 'requestMirror'), context),
      ]),
      cors: ifSet(policies.cors, renderCors),
      ...renderAuthentication(policies, path, context),
      extAuth: ifSet(policies.extAuthz, (value) =>
        renderExtAuthOrConditional(value, pathTo(path, 'extAuthz'), context),
      ),
      extProc: ifSet(policies.extProc, (value) => renderExtProc(value, pathTo(path, 'extProc'), context)),
      rateLimitGlobal: ifSet(policies.remoteRateLimit, (value) =>
        renderRateLimitGlobal(value, pathTo(path, 'remoteRateLimit'), context),
      ),
      rateLimit: ifSet(policies.localRateLimit, renderRateLimit),
      transformation: ifSet(policies.transformations, renderTransformations),
      csrf: ifSet(policies.csrf, defined),
      requestHeaderModifier: ifSet(policies.requestHeaderModifier, renderModifier),
      responseHeaderModifier: ifSet(policies.responseHeaderModifier, renderModifier),
      hostRewrite: rewrites?.hostRewrite,
      urlRewrite: rewrites?.urlRewrite,
      requestRedirect: ifSet(policies.requestRedirect, (value) =>
        renderRedirect(value, pathTo(path, 'requestRedirect'), context),
      ),
      directResponse: ifSet(policies.directResponse, renderDirectResponse),
    } satisfies RouteFields),
    rules: renderRules(policies.authorization, pathTo(path, 'authorization'), context),
  }
}

function renderCors({ maxAge, ...lists }: Cors): RenderedCors {
  return defined({ ...lists, maxAgeSeconds: maxAge === undefined ? undefined : Math.floor(maxAge / 1000) })
}

function renderRateLimit(value: LocalRateLimit): RateLimitOrConditional {
  if (!('conditional' in value)) return { limits: value.map(renderLimit) }
  return renderEntries(value.conditional, (limit) => ({ limits: [renderLimit(limit)] }))
}

function renderLimit({ maxTokens, tokensPerFill = 1, fillInterval, type = 'requests' }: Limit): LocalLimit {
  return {
    unit: type === 'tokens' ? 'Tokens' : 'Requests',
    tokensPerFill,
    fillIntervalMs: fillInterval,
    tokensMax: maxTokens ?? tokensPerFill,
  }
}
