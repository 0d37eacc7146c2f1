// backend.tunnel: the intermediate proxy for connections to a backend, from its reference and its own policies.
import { createHash } from 'node:crypto'
import type { BackendAuth, BackendReference, CredentialLocation, SecretRef } from '#api/ir/types.gen.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { BAD_VALUE } from '../message/head-text.ts'
import type { TunnelProxy, TunnelWay, UpstreamTunnel } from '../upstream/target.ts'
import type { EndpointState } from './endpoint-store.ts'
import { nextEndpoint } from './failover.ts'
import type { Endpoint, EndpointPicker } from './handler.ts'
import { chargeFailure, connectionHealth } from './health.ts'
import type { HealthRule } from '../exchange/slots.ts'

export interface TunnelParts {
  readonly proxy: BackendReference
  /** Of the proxy itself. */
  readonly policies: EffectiveBackend
  /** undefined: the reference has no addresses. */
  readonly picker: EndpointPicker | undefined
  /** What the picker picks from, for the key. */
  readonly addresses: unknown
  readonly secret: (ref: SecretRef) => string | undefined
}

const DEFAULT_LOCATION: CredentialLocation = { header: { name: 'proxy-authorization', prefix: 'Bearer ' } }

export function tunnelThrough(parts: TunnelParts): UpstreamTunnel {
  const { proxy, policies, addresses } = parts
  const way = wayOf(parts)
  const { tls, tcp, health } = policies
  const facts = { proxy, tls, tcp, health, addresses, headers: 'headers' in way ? way.headers : [] }
  // Hashed, because it contains credentials.
  const key = createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
  return { key, way }
}

function wayOf({ proxy, policies, picker, secret }: TunnelParts): TunnelWay {
  if (policies.deny !== undefined) return { problem: `the proxy must not be used: ${policies.deny.message}` }
  if (policies.tunnel !== undefined) return { problem: 'the proxy itself is behind a proxy, which is not supported' }
  if (picker === undefined)
    return { problem: proxy.invalid?.message ?? 'the proxy does not exist, or has no addresses' }
  const headers = policies.auth === undefined ? [] : credentials(policies.auth, secret)
  if (typeof headers === 'string') return { problem: headers }
  const health = connectionHealth(policies)
  const pick = (): TunnelProxy | undefined => {
    const endpoint = picker.pick()
    return endpoint && chargedProxy({ endpoint, picker, health, failed: [] })
  }
  return { pick, headers }
}

interface ProxyParts {
  readonly endpoint: Endpoint
  readonly picker: EndpointPicker
  readonly health: HealthRule | undefined
  /** Tried for the same connection. */
  readonly failed: EndpointState[]
}

function chargedProxy(parts: ProxyParts): TunnelProxy {
  const { endpoint, picker, health, failed } = parts
  const { target, state } = endpoint
  return {
    target,
    other() {
      const next = nextEndpoint(failed, endpoint, (all) => picker.other(all))
      return next && chargedProxy({ ...parts, endpoint: next })
    },
    begin: () => state.begin(),
    end(latencyMs, isHealthy) {
      if (isHealthy === undefined) state.release()
      else if (isHealthy) state.succeeded(latencyMs)
      else chargeFailure(state, health)
    },
  }
}

/** What a proxy can get: a connection serves many requests, so that its credential cannot depend on one, or end. */
const USABLE: ReadonlySet<string> = new Set<keyof BackendAuth>(['key', 'location', 'credentials'])

function unusableKind(auth: BackendAuth): string | undefined {
  const kind = Object.keys(auth).find((name) => !USABLE.has(name))
  if (kind === 'passthrough') return 'the credential of a client cannot be forwarded to the proxy'
  return kind && `credentials of ${kind} cannot be sent to a proxy: use key or secretRef`
}

/** A string: why no fields can be sent. */
function credentials(auth: BackendAuth, secret: TunnelParts['secret']): string[] | string {
  const problem = unusableKind(auth)
  if (problem !== undefined) return problem
  const headers: string[] = []
  const own = auth.key === undefined ? [] : [{ key: auth.key, location: auth.location ?? DEFAULT_LOCATION }]
  for (const { key, location } of [...own, ...(auth.credentials ?? [])]) {
    const value = fieldValue(secret(key)?.trim() ?? '')
    if (value === undefined) return `secret ${key.secret} is missing, or is not a valid header value`
    if (location.header === undefined) return 'credentials for a proxy must be in a header field'
    const name = location.header.name.toLowerCase()
    // What a backend gets in Authorization, a proxy gets in its own field (RFC 9110 section 11.7).
    headers.push(name === 'authorization' ? 'proxy-authorization' : name, (location.header.prefix ?? '') + value)
  }
  return headers
}

function fieldValue(text: string): string | undefined {
  return text === '' || BAD_VALUE.test(text) ? undefined : text
}
