// Policies towards backends, as backend fields of the contract. Credentials go to the secrets, never into the payload.
import type {
  AIPolicy,
  Authorization,
  BackendAuth as RenderedAuth,
  BackendPayload,
  BackendTLS as RenderedTls,
  CredentialLocation,
  Deny,
  RouteType,
} from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import {
  DENYING_AUTH,
  DENYING_BACKEND,
  DENYING_TLS,
  type AI,
  type BackendAuth,
  type BackendPolicies,
  type BackendTLS,
  type Location,
  type RoutePolicies,
  type RouteTypeName,
} from '../schema/policies.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { deniedField, denialOf } from './denial.ts'
import { expressions, renderModifier, renderRedirect, renderTransformation } from './headers.ts'
import { renderRules } from './rules.ts'

export interface BackendSide {
  /** Without mcpAuthorization, which may have several rules. */
  readonly payload: BackendPayload
  readonly mcpRules: readonly Authorization[]
}

const ROUTE_TYPES: { readonly [K in RouteTypeName]: RouteType } = {
  completions: 'Completions',
  messages: 'Messages',
  models: 'Models',
  passthrough: 'Passthrough',
  detect: 'Detect',
  responses: 'Responses',
  embeddings: 'Embeddings',
  realtime: 'Realtime',
  anthropicTokenCount: 'AnthropicTokenCount',
  rerank: 'Rerank',
}

export function backendSide(policies: BackendPolicies, path: string, context: BuildContext): BackendSide {
  const { transformations, requestRedirect, http, tcp } = policies
  const shared = sharedSide(policies, path, context)
  const deny = denialOf({ names: DENYING_BACKEND, policies, path }, context)
  const request = policies.requestHeaderModifier
  const response = policies.responseHeaderModifier
  return {
    payload: defined({
      ...shared.payload,
      deny: deny ?? shared.payload.deny,
      http: http?.requestTimeout === undefined ? undefined : { requestTimeoutMs: http.requestTimeout },
      tcp: tcp?.connectTimeout === undefined ? undefined : { connectTimeoutMs: tcp.connectTimeout },
      transformation: transformations && renderTransformation(transformations),
      requestHeaderModifier: request && renderModifier(request),
      responseHeaderModifier: response && renderModifier(response),
      requestRedirect: requestRedirect && renderRedirect(requestRedirect, pathTo(path, 'requestRedirect'), context),
    }),
    mcpRules: shared.mcpRules,
  }
}

/** What routes may say about their backends. */
export function routeBackendSide(policies: RoutePolicies, path: string, context: BuildContext): BackendSide {
  return sharedSide(policies, path, context)
}

type Shared = Pick<BackendPolicies, 'ai' | 'backendTLS' | 'backendAuth' | 'mcpAuthorization'>

function sharedSide({ ai, backendTLS, backendAuth, mcpAuthorization }: Shared, path: string, context: BuildContext) {
  const tls = ifSet(backendTLS, (value) => renderTls(value, pathTo(path, 'backendTLS'), context))
  const auth = ifSet(backendAuth, (value) => renderAuth(value, pathTo(path, 'backendAuth'), context))
  const guard = ifSet(ai?.promptGuard, () => deniedField(pathTo(path, 'ai', 'promptGuard'), context))
  const payload: BackendPayload = defined({
    deny: tls?.deny ?? auth?.deny ?? guard,
    ai: ifSet(ai, renderAi),
    tls: tls?.tls,
    auth: auth?.auth,
  })
  return { payload, mcpRules: ifSet(mcpAuthorization, renderRules) ?? [] }
}

function renderTls(
  value: BackendTLS,
  path: string,
  context: BuildContext,
): { readonly deny: Deny | undefined; readonly tls: RenderedTls } {
  const { root, hostname, insecure, insecureHost, alpn } = value
  const caCertificates = root === undefined ? undefined : context.readFile(pathTo(path, 'root'), root)
  if (caCertificates?.includes('-----BEGIN CERTIFICATE-----') === false) {
    context.error(pathTo(path, 'root'), 'the file holds no PEM certificate')
  }
  return {
    deny: denialOf({ names: DENYING_TLS, policies: value, path }, context),
    tls: defined({
      sni: hostname,
      caCertificates,
      insecureSkipVerify: skipVerify(insecure, insecureHost),
      alpnProtocols: alpn,
    }),
  }
}

function skipVerify(
  insecure: boolean | undefined,
  insecureHost: boolean | undefined,
): RenderedTls['insecureSkipVerify'] {
  if (insecure === true) return 'All'
  return insecureHost === true ? 'Hostname' : undefined
}

function renderAuth(
  value: BackendAuth,
  path: string,
  context: BuildContext,
): { readonly deny?: Deny | undefined; readonly auth?: RenderedAuth } {
  if (typeof value === 'string') return { auth: { key: context.secret(path, value) } }
  const deny = denialOf({ names: DENYING_AUTH, policies: value, path }, context)
  const { key, passthrough, credentials } = value
  if (key !== undefined && passthrough !== undefined) context.error(path, 'must have at most one of key, passthrough')
  const primary = ifSet(key, (given) => primaryKey(given, pathTo(path, 'key'), context))
  const auth: RenderedAuth = defined({
    key: primary?.key,
    passthrough: ifSet(passthrough, () => true),
    location: ifSet(primary?.location ?? passthrough?.location, renderLocation),
    credentials: credentials?.map((one, index) => ({
      key: context.secret(pathTo(path, 'credentials', index, 'key'), one.key),
      location: renderLocation(one.location),
    })),
  })
  if (Object.keys(auth).length === 0 && deny === undefined) context.error(path, 'names no credentials')
  return { deny, auth }
}

function primaryKey(
  key: Exclude<Exclude<BackendAuth, string>['key'], undefined>,
  path: string,
  context: BuildContext,
): { readonly key: { secret: string }; readonly location?: Location | undefined } {
  if (typeof key === 'string' || 'file' in key) return { key: context.secret(path, key) }
  return { key: context.secret(pathTo(path, 'value'), key.value), location: key.location }
}

function renderLocation({ header, queryParameter, cookie }: Location): CredentialLocation {
  return defined({
    header: header && { name: header.name, ...defined({ prefix: header.prefix }) },
    queryParameter,
    cookie,
  })
}

function renderAi({ defaults, overrides, transformations, prompts, modelAliases, routes }: AI): AIPolicy {
  return defined({
    defaults: defaults && jsonFields(defaults),
    overrides: overrides && jsonFields(overrides),
    transformations: transformations && expressions(transformations),
    prompt: prompts && defined(prompts),
    modelAliases,
    routes: routes && Object.fromEntries(Object.entries(routes).map(([path, type]) => [path, ROUTE_TYPES[type]])),
  })
}

type Json = NonNullable<AIPolicy['defaults']>[number]['value']

function jsonFields(map: Readonly<Record<string, Json>>): { field: string; value: Json }[] {
  return Object.entries(map).map(([field, value]) => ({ field, value }))
}
