// Compares every limit of the specification (chapters Resources and Limits) with the schema that clusters enforce.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const CRDS = join(import.meta.dirname, '..', '..', 'config', 'crd')
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties'] as const

type Bounds = Partial<Record<(typeof BOUNDS)[number], number>>
type Kind = 'gwpolicies' | 'gwbackends' | 'gwmodels' | 'gwparameters'
interface Part extends Bounds {
  readonly properties?: Readonly<Record<string, Part>>
  readonly items?: Part
  readonly additionalProperties?: Part
}

const items = (minItems: number | undefined, maxItems: number): Bounds =>
  minItems === undefined ? { maxItems } : { minItems, maxItems }
const between = (minimum: number, maximum: number): Bounds => ({ minimum, maximum })
const text = (maxLength: number, minLength = 1): Bounds => ({ minLength, maxLength })
const SHORT = text(256)
const LONG = text(1024)
const TINY = text(64)
const CEL = text(16_384)
const PORT = between(1, 65_535)
const ENTRIES = { maxProperties: 64 }
/** For `int32` fields without a maximum in the specification. */
const INT32_MAX = 2_147_483_647

const FRONTEND: readonly (readonly [path: string, bounds: Bounds])[] = [
  ['frontend.tcp.keepalive.retries', between(1, 64)],
  ['frontend.http.http1MaxHeaders', between(1, 4096)],
  ['frontend.tls.alpnProtocols', items(1, 16)],
  ['frontend.tls.alpnProtocols[]', TINY],
  ['frontend.tracing.path', LONG],
  ['frontend.accessLog.otlp.path', LONG],
  ['frontend.accessLog.attributes.remove', items(1, 32)],
  ['frontend.accessLog.attributes.remove[]', TINY],
  ['frontend.accessLog.attributes.add[].name', SHORT],
  ['frontend.accessLog.filter', CEL],
  ['frontend.metrics.attributes.add', items(1, 16)],
  ['frontend.networkAuthorization.policy.matchExpressions', items(1, 256)],
]

const TRAFFIC: readonly (readonly [path: string, bounds: Bounds])[] = [
  ['traffic.csrf.additionalOrigins', items(1, 16)],
  ['traffic.csrf.additionalOrigins[]', SHORT],
  ...['transformation', 'extProc', 'extAuth', 'rateLimit', 'directResponse'].map(
    (name) => [`traffic.${name}.conditional`, items(1, 16)] as const,
  ),
  ['traffic.directResponse.status', between(200, 599)],
  ['traffic.directResponse.body', text(4096)],
  ['traffic.directResponse.headers', items(1, 16)],
  ['traffic.authorization.policy.matchExpressions', items(1, 256)],
  ['traffic.authorization.policy.matchExpressions[]', CEL],
  ['traffic.rateLimit.local', items(1, 16)],
  ['traffic.rateLimit.local[].requests', between(1, INT32_MAX)],
  ['traffic.rateLimit.local[].tokens', between(1, INT32_MAX)],
  ['traffic.rateLimit.global.domain', SHORT],
  ['traffic.rateLimit.global.descriptors', items(1, 16)],
  ['traffic.rateLimit.global.descriptors[].entries', items(1, 16)],
  ['traffic.rateLimit.global.descriptors[].entries[].name', TINY],
  ['traffic.extAuth.grpc.contextExtensions', ENTRIES],
  ['traffic.extAuth.grpc.requestMetadata', ENTRIES],
  ['traffic.extAuth.http.allowedRequestHeaders', items(undefined, 64)],
  ['traffic.extAuth.http.addRequestHeaders', ENTRIES],
  ['traffic.extAuth.http.allowedResponseHeaders', items(undefined, 64)],
  ['traffic.extAuth.http.responseMetadata', ENTRIES],
  ['traffic.extAuth.cache.key', items(1, 16)],
  ['traffic.extAuth.cache.maxEntries', { minimum: 1 }],
  ['traffic.extProc.metadataContext', ENTRIES],
  ['traffic.extProc.requestAttributes', ENTRIES],
  ['traffic.extProc.responseAttributes', ENTRIES],
  ['traffic.jwtAuthentication.providers', items(1, 64)],
  ['traffic.jwtAuthentication.providers[].issuer', SHORT],
  ['traffic.jwtAuthentication.providers[].audiences', items(1, 64)],
  ['traffic.jwtAuthentication.providers[].jwks.inline', text(65_536, 2)],
  ['traffic.jwtAuthentication.providers[].jwks.remote.jwksPath', text(2000)],
  ['traffic.basicAuthentication.users', items(1, 256)],
]

const BACKEND: readonly (readonly [path: string, bounds: Bounds])[] = [
  ['backend.tcp.keepalive.retries', between(1, 64)],
  ['backend.tls.mtlsCertificateRef', items(undefined, 1)],
  ['backend.tls.caCertificateRefs', items(undefined, 1)],
  ['backend.tls.sni', text(253)],
  ['backend.tls.verifySubjectAltNames', items(1, 16)],
  ['backend.tls.verifySubjectAltNames[]', SHORT],
  ['backend.tls.alpnProtocols', items(1, 16)],
  ['backend.health.eviction.restoreHealth', between(0, 100)],
  ['backend.health.eviction.consecutiveFailures', { minimum: 0 }],
  ['backend.health.eviction.healthThreshold', between(0, 100)],
  ['backend.auth.credentials', items(1, 8)],
  ['backend.auth.cloudA.assumeRole.tags', items(undefined, 50)],
  ['backend.auth.cloudA.assumeRole.tags[].key', text(128)],
  ['backend.auth.oauthTokenExchange.audiences', items(1, 64)],
  ['backend.auth.oauthTokenExchange.scopes', items(1, 64)],
  ['backend.auth.oauthTokenExchange.resources', items(1, 64)],
  ['backend.auth.oauthTokenExchange.additionalParams', ENTRIES],
  ['backend.ai.defaults', items(1, 64)],
  ['backend.ai.overrides', items(1, 64)],
  ['backend.ai.transformations', items(1, 64)],
  ['backend.ai.modelAliases', ENTRIES],
  ['backend.ai.promptCaching.minTokens', { minimum: 0 }],
  ['backend.ai.promptGuard.request', items(1, 8)],
  ['backend.ai.promptGuard.response', items(1, 8)],
  ['backend.ai.promptGuard.request[].response.statusCode', between(200, 599)],
  ['backend.ai.promptGuard.request[].regex.matches[]', LONG],
  ['backend.mcp.guardrails.processors', items(1, 16)],
  ['backend.mcp.guardrails.processors[].remote.metadata', ENTRIES],
  ['backend.mcp.guardrails.processors[].remote.allowedRequestHeaders', items(undefined, 64)],
  ['backend.mcp.guardrails.processors[].remote.disallowedRequestHeaders', items(undefined, 64)],
]

const REST: readonly (readonly [kind: Kind, path: string, bounds: Bounds])[] = [
  ['gwpolicies', 'targetRefs', items(1, 16)],
  ['gwpolicies', 'targetSelectors', items(1, 16)],
  ['gwpolicies', 'targetRefs[].port', PORT],
  ['gwbackends', 'static.host', SHORT],
  ['gwbackends', 'static.port', PORT],
  ['gwbackends', 'a2a.port', PORT],
  ['gwbackends', 'ai.groups', items(1, 8)],
  ['gwbackends', 'ai.groups[].providers', items(1, 16)],
  ['gwbackends', 'ai.provider.custom.formats', items(1, 6)],
  ['gwbackends', 'ai.provider.path', LONG],
  ['gwbackends', 'ai.provider.p7.region', text(63)],
  ['gwbackends', 'mcp.targets', items(1, 32)],
  ['gwbackends', 'mcp.targets[].static.port', PORT],
  ['gwmodels', 'parentRefs', items(1, 16)],
  ['gwmodels', 'match.model', LONG],
  ['gwmodels', 'baseURL', LONG],
  ['gwmodels', 'custom.formats', items(1, 6)],
  ['gwmodels', 'policies.transformations', items(1, 64)],
  ['gwmodels', 'virtualModel.failover.targets', items(1, 64)],
  ['gwmodels', 'virtualModel.failover.targets[].priority', between(0, 1_000_000)],
  ['gwmodels', 'virtualModel.conditional.targets', items(1, 64)],
  ['gwparameters', 'shutdown.min', between(0, 31_536_000)],
  ['gwparameters', 'shutdown.max', between(0, 31_536_000)],
]

const ofPolicy = [...FRONTEND, ...TRAFFIC, ...BACKEND].map(([path, bounds]) => ['gwpolicies', path, bounds] as const)

describe('bounds of the schema', () => {
  it.each<readonly [Kind, string, Bounds]>([...ofPolicy, ...REST])('%s %s', (kind, path, bounds) => {
    const part = partAt(specOf(kind), path)
    expect(
      Object.fromEntries(BOUNDS.flatMap((name) => (part[name] === undefined ? [] : [[name, part[name]]]))),
    ).toEqual(bounds)
  })

  it.each<readonly [Kind, string, Bounds]>([
    ['gwpolicies', 'ancestors[].conditions', items(1, 8)],
    ['gwbackends', 'conditions', items(undefined, 8)],
    ['gwmodels', 'parents', items(undefined, 16)],
  ])('status of %s %s', (kind, path, bounds) => {
    expect(partAt(schemaOf(kind).properties?.['status'], path)).toMatchObject(bounds)
  })
})

const schemas = new Map<Kind, Part>()

function schemaOf(kind: Kind): Part {
  let schema = schemas.get(kind)
  if (schema === undefined) {
    // Generated by `make generate`, whose own tests check its shape.
    const crd = parse(readFileSync(join(CRDS, `gw.dev_${kind}.yaml`), 'utf8')) as {
      spec: { versions: [{ schema: { openAPIV3Schema: Part } }] }
    }
    schema = crd.spec.versions[0].schema.openAPIV3Schema
    schemas.set(kind, schema)
  }
  return schema
}

function specOf(kind: Kind): Part | undefined {
  return schemaOf(kind).properties?.['spec']
}

/** `a.b[].c` */
function partAt(schema: Part | undefined, path: string): Part {
  let part = schema
  for (const step of path.split('.')) {
    const name = step.replace('[]', '')
    part = part?.properties?.[name]
    if (step.endsWith('[]')) part = part?.items
    if (part === undefined) throw new Error(`${path}: no ${step}`)
  }
  return part ?? {}
}
