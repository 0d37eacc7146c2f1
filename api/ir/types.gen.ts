// Generated from api/ir/schema by `make generate`. Do not edit.

export type GuardBuiltin = 'Ssn' | 'CreditCard' | 'PhoneNumber' | 'Email' | 'CaSin'
/**
 * AccessToken, Jwt, IdToken, IdJag, or the absolute URI of another type.
 */
export type OAuthTokenType = string
export type KeyExchangeGroup = 'X25519' | 'P-256' | 'P-384' | 'X25519_MLKEM768'
export type RouteType =
  | 'Completions'
  | 'Messages'
  | 'Models'
  | 'Passthrough'
  | 'Detect'
  | 'Responses'
  | 'AnthropicTokenCount'
  | 'Embeddings'
  | 'Realtime'
  | 'Rerank'
  | 'GenerateContent'
  | 'GeminiCountTokens'
export type ExtAuthOrConditional = ExtAuth | ConditionalExtAuth
export type RateLimitOrConditional = RateLimit | ConditionalRateLimit
export type RateLimitGlobalOrConditional = RateLimitGlobal | ConditionalRateLimitGlobal
export type ExtProcOrConditional = ExtProc | ConditionalExtProc
export type ExtProcPartMode = 'Send' | 'Skip'
/**
 * Buffered bodies over 8192 bytes are failures; BufferedPartial shows the first 8192 bytes.
 */
export type ExtProcBodyMode = 'None' | 'Buffered' | 'BufferedPartial' | 'FullDuplexStreamed'
export type TransformationOrConditional = Transformation | ConditionalTransformation
export type DirectResponseOrConditional = DirectResponse | ConditionalDirectResponse

/**
 * Everything a proxy needs for its Gateway, without secret material. Written by the operator (one per Gateway) or built from a standalone file; read by the proxy. Flat lists of keyed resources; children name their parents.
 */
export interface RenderedConfig {
  /**
   * Contract version. A proxy accepts its own version; from the first release on, the one before as well.
   */
  version: 2
  /**
   * Functions of all expressions of this configuration, as text: `name(a, b) { expr }`. Only from a standalone file.
   */
  customFunctions?: string
  binds: Bind[]
  listeners: Listener[]
  routes: Route[]
  tcpRoutes: TCPRoute[]
  backends: Backend[]
  policies: Policy[]
  services: Service[]
  workloads: Workload[]
}
/**
 * One TCP port of one Gateway. Two Gateways never share a bind.
 */
export interface Bind {
  /**
   * `{port}/{namespace}/{gateway}`
   */
  key: string
  port: number
  /**
   * The protocol before HTTP on the port; absent means HTTP.
   */
  protocol?: 'HTTP' | 'TLS' | 'TCP'
  /**
   * Internal binds open no socket; other listeners forward to them.
   */
  mode?: 'Standard' | 'Internal'
  /**
   * What connections of the port carry if no policy of the port sets `connect` or `proxyProtocol`; absent: nothing. HBONE is the protocol of the listener.
   */
  tunnelProtocol?: 'Proxy' | 'Connect'
}
export interface Listener {
  /**
   * `{namespace}/{gateway}.{listener}`, or `{namespace}/{listenerset}.{listener}`
   */
  key: string
  bindKey: string
  name: ListenerName
  /**
   * Exact or `*.suffix`; absent matches every host.
   */
  hostname?: string
  protocol: 'HTTP' | 'HTTPS' | 'TLS' | 'TCP' | 'HBONE'
  tls?: ListenerTLS
}
export interface ListenerName {
  gatewayName: string
  gatewayNamespace: string
  listenerName: string
  listenerSet?: ObjectName
}
export interface ObjectName {
  namespace: string
  name: string
}
export interface ListenerTLS {
  mode?: 'Terminate' | 'Passthrough'
  certificate?: SecretRef
  privateKey?: SecretRef
  /**
   * Sent instead of `certificate` to clients that request a name in them.
   *
   * @minItems 1
   * @maxItems 63
   */
  moreCertificates?: ListenerCertificate[]
  /**
   * The pair is that of an authority, and certificates are signed for the server names that clients ask for; a client that names none is refused.
   */
  signsCertificates?: boolean
  /**
   * The certificate is that of the proxy in the mesh. `Mutual`: clients must be workloads of an accepted trust domain.
   */
  mesh?: 'Simple' | 'Mutual'
  /**
   * Why the certificate cannot be used; handshakes then fail.
   */
  invalid?: string
  clientCertificates?: ClientValidation
}
/**
 * Points into RenderedSecrets. A key that is not there is a missing credential, never an empty one.
 */
export interface SecretRef {
  secret: string
}
export interface ListenerCertificate {
  certificate: SecretRef
  privateKey: SecretRef
}
/**
 * Clients are asked for a certificate. AllowInsecureFallback admits those without one, or with one that cannot be verified; nothing of it is believed.
 */
export interface ClientValidation {
  mode: 'AllowValidOnly' | 'AllowInsecureFallback'
  /**
   * PEM bundle.
   */
  caCertificates: string
}
/**
 * One rule of an HTTPRoute or GRPCRoute on one listener, or the way to the models that it offers.
 */
export interface Route {
  /**
   * `{namespace}/{name}.{rule index, 2 digits}.{listener}`
   */
  key: string
  /**
   * Exactly one of listenerKey, routeGroupKey.
   */
  listenerKey?: string
  /**
   * Set on delegated routes.
   */
  routeGroupKey?: string
  name: RouteName
  /**
   * Creation time, seconds since the epoch; older wins a tie.
   */
  createdAt?: number
  hostnames: string[]
  matches: RouteMatch[]
  backends: RouteBackend[]
  inlinePolicies?: TrafficPayload
}
export interface RouteName {
  kind: 'HTTPRoute' | 'GRPCRoute' | 'GwModel'
  namespace: string
  name: string
  ruleName?: string
}
/**
 * All parts must match. An empty match matches everything.
 */
export interface RouteMatch {
  path?: PathMatch
  method?: string
  headers?: ValueMatch[]
  query?: ValueMatch[]
}
/**
 * Exactly one field.
 */
export interface PathMatch {
  exact?: string
  /**
   * Whole segments; a trailing slash is ignored.
   */
  pathPrefix?: string
  /**
   * RE2 syntax; must cover the whole path.
   */
  regex?: string
}
export interface ValueMatch {
  /**
   * Header names are lower case.
   */
  name: string
  value: StringMatch
}
export interface StringMatch {
  exact?: string
  regex?: string
}
export interface RouteBackend {
  weight: number
  ref: BackendReference
  inlinePolicies?: BackendPayload
}
/**
 * Exactly one field.
 */
export interface BackendReference {
  service?: ServiceReference
  /**
   * Backend key.
   */
  backend?: string
  /**
   * Delegation; only in routes.
   */
  routeGroup?: string
  invalid?: InvalidReference
}
export interface ServiceReference {
  hostname: string
  namespace: string
  port: number
}
/**
 * A reference that could not be resolved; requests that reach it fail with 500.
 */
export interface InvalidReference {
  reason: 'BackendNotFound' | 'ServiceNotFound' | 'InvalidKind' | 'RefNotPermitted' | 'UnsupportedValue'
  message: string
}
export interface BackendPayload {
  deny?: Deny
  ai?: AIPolicy
  inferenceRouting?: InferenceRouting
  cors?: Cors
  /**
   * Rules of the backend. Those of all levels are kept and evaluated together.
   *
   * @minItems 1
   */
  authorization?: Authorization[]
  extAuth?: ExtAuth
  auth?: BackendAuth
  tls?: BackendTLS
  tcp?: BackendTCP
  http?: BackendHTTP
  tunnel?: BackendTunnel
  mcpAuthentication?: JwtAuthentication
  mcpAuthorization?: Authorization
  mcpGuardrails?: MCPGuardrails
  health?: Health
  transformation?: Transformation
  requestHeaderModifier?: HeaderModifier
  responseHeaderModifier?: HeaderModifier
  requestRedirect?: RequestRedirect
  urlRewrite?: UrlRewrite
  requestMirror?: RequestMirror[]
}
/**
 * A security policy that cannot be enforced (broken, or not run by this version). Every request it covers is refused, so that a policy never vanishes silently.
 */
export interface Deny {
  /**
   * The field of the policy object, e.g. `traffic.jwtAuthentication`.
   */
  field: string
  /**
   * For status and log; never sent to clients.
   */
  message: string
  /**
   * The policy configures TLS to the backend. The proxy answers with 500, as the Gateway API requires, instead of 403.
   */
  isBackendTls?: boolean
}
export interface AIPolicy {
  defaults?: JsonField[]
  overrides?: JsonField[]
  transformations?: NamedExpression[]
  prompt?: PromptEnrichment
  promptGuard?: PromptGuard
  promptCaching?: PromptCaching
  modelAliases?: {
    [k: string]: string
  }
  /**
   * Path suffix to route type; longest first, `*` last.
   */
  routes?: {
    [k: string]: RouteType
  }
}
export interface JsonField {
  field: string
  /**
   * Any JSON.
   */
  value: string | number | boolean | {} | unknown[] | null
}
export interface NamedExpression {
  name: string
  /**
   * CEL.
   */
  expression: string
}
export interface PromptEnrichment {
  prepend?: PromptMessage[]
  append?: PromptMessage[]
}
export interface PromptMessage {
  role: string
  content: string
}
/**
 * Guards of the texts of chat requests and responses, in the order in which they run. At least one list.
 */
export interface PromptGuard {
  /**
   * Guards of responses check streamed responses as well; unset: these are not guarded.
   */
  streaming?: boolean
  /**
   * @minItems 1
   */
  request?: GuardSettings[]
  /**
   * @minItems 1
   */
  response?: GuardSettings[]
}
/**
 * One guard: exactly one of `regex`, `webhook`, `moderationApi`, `guardrailsA` and `guardrailsC`. Responses are not checked by `moderationApi`.
 */
export interface GuardSettings {
  rejection: GuardRejection
  regex?: GuardRegex
  webhook?: GuardWebhook
  moderationApi?: GuardModeration
  guardrailsA?: GuardGuardrailsA
  guardrailsC?: GuardGuardrailsC
}
/**
 * What the client gets if the guard rejects; a webhook may send its own.
 */
export interface GuardRejection {
  status: number
  body: string
  headers?: HeaderValue[]
}
export interface HeaderValue {
  name: string
  value: string
}
export interface GuardRegex {
  /**
   * In the syntax of RE2.
   */
  patterns?: string[]
  builtins?: GuardBuiltin[]
  /**
   * Matches in responses are always masked.
   */
  action: 'Mask' | 'Reject'
}
export interface GuardWebhook {
  service: BackendReference
  failureMode: 'FailClosed' | 'FailOpen'
  /**
   * Added to the call; `:path`, `:method` and `:authority` replace these parts of it.
   */
  headers?: NamedExpression[]
  /**
   * A header is forwarded with all its values if one of them matches.
   */
  forwardHeaderMatches?: ValueMatch[]
}
export interface GuardModeration {
  /**
   * `omni-moderation-latest` when unset.
   */
  model?: string
  policies?: GuardService
}
/**
 * How the service of a guard is called; TLS with the system's authorities when `tls` is unset.
 */
export interface GuardService {
  deny?: Deny
  auth?: BackendAuth
  tls?: BackendTLS
  tcp?: BackendTCP
  http?: BackendHTTP
  tunnel?: BackendTunnel
}
export interface BackendAuth {
  key?: SecretRef
  passthrough?: boolean
  crossAppAccess?: CrossAppAccess
  oauthTokenExchange?: OAuthTokenExchange
  location?: CredentialLocation
  cloudA?: CloudAAuth
  cloudB?: CloudBAuth
  cloudC?: CloudCAuth
  credentials?: ExtraCredential[]
}
/**
 * Gets a token of another application: the identity provider exchanges the ID token of the client for an identity assertion, and the authorization server of the application exchanges that for an access token.
 */
export interface CrossAppAccess {
  identityProvider: OAuthEndpoint
  resourceAuthorizationServer: OAuthEndpoint
  audience: string
  resources?: string[]
  scopes?: string[]
  subjectToken?: CrossAppSubjectToken
  cache?: OAuthTokenCache
}
/**
 * A token endpoint. One whose reference names nothing fails each request.
 */
export interface OAuthEndpoint {
  service: BackendReference
  path: string
  clientAuth: OAuthClientAuth
}
/**
 * How the proxy authenticates at a token endpoint. The method is rendered also where it is the default. Without a client secret ClientSecretPost sends the identifier alone, and ClientSecretBasic fails.
 */
export interface OAuthClientAuth {
  clientId: string
  method: 'ClientSecretBasic' | 'ClientSecretPost' | 'PrivateKeyJwt'
  secretRef?: SecretRef
  privateKeyJwt?: OAuthPrivateKeyJwt
}
/**
 * With method PrivateKeyJwt only, and required there.
 */
export interface OAuthPrivateKeyJwt {
  signingKeyRef: SecretRef
  alg: 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384'
  kid?: string
  assertionAudience: string
  certificateRef?: SecretRef
  /**
   * Together with certificateRef.
   */
  certificateHeader?: 'x5c' | 'x5t#S256'
}
export interface CrossAppSubjectToken {
  source?: ExtractionLocation
}
/**
 * Where a credential of the client is read. Exactly one field.
 */
export interface ExtractionLocation {
  header?: HeaderLocation
  queryParameter?: NamedLocation
  cookie?: CookieLocation
  /**
   * CEL giving text; nothing is removed from the request.
   */
  expression?: string
}
export interface HeaderLocation {
  name: string
  prefix?: string
}
export interface NamedLocation {
  name: string
}
export interface CookieLocation {
  name: string
}
/**
 * Bounds of the tokens that are kept.
 */
export interface OAuthTokenCache {
  /**
   * 0 keeps none; 8192 when unset.
   */
  entriesMax?: number
  /**
   * Lifetime where the response gives none; 300000 when unset.
   */
  defaultTtlMs?: number
}
/**
 * Exchanges the token of the client for one of the backend at a token endpoint (RFC 8693, RFC 7523). Path, grant and types of tokens are rendered also where they are the default.
 */
export interface OAuthTokenExchange {
  service: BackendReference
  path: string
  grantType: 'TokenExchange' | 'JwtBearer'
  subjectToken: OAuthSubjectToken
  actorToken?: OAuthActorToken
  audiences?: string[]
  scopes?: string[]
  resources?: string[]
  /**
   * With grant TokenExchange only.
   */
  requestedTokenType?: 'AccessToken' | 'Jwt' | 'IdToken'
  /**
   * Fields of the form; a request for which one is not text is rejected.
   */
  additionalParams?: NamedExpression[]
  clientAuth?: OAuthClientAuth
  location?: CredentialLocation
  cache?: OAuthTokenCache
}
export interface OAuthSubjectToken {
  source?: ExtractionLocation
  tokenType: OAuthTokenType
}
/**
 * With grant TokenExchange only.
 */
export interface OAuthActorToken {
  source: ExtractionLocation
  tokenType: OAuthTokenType
  /**
   * The subject token must permit the actor; unset: not checked.
   */
  mayAct?: 'Required'
}
/**
 * Exactly one field.
 */
export interface CredentialLocation {
  header?: HeaderLocation
  queryParameter?: NamedLocation
  cookie?: CookieLocation
}
/**
 * Signs requests for AWS (Signature Version 4). Keys come from `secretRef`, from a role, or, with neither, from the environment of the proxy.
 */
export interface CloudAAuth {
  secretRef?: CloudAKeys
  assumeRole?: CloudARole
  /**
   * Signing name; unset: `bedrock`.
   */
  serviceName?: string
  /**
   * Signing region; unset: that of the environment.
   */
  region?: string
}
export interface CloudAKeys {
  accessKey: SecretRef
  secretKey: SecretRef
  sessionToken?: SecretRef
}
export interface CloudARole {
  /**
   * Resource name (ARN) of the role.
   */
  roleRef: string
  /**
   * What the trust policy of the role requires of another account.
   */
  externalId?: string
  /**
   * 2 to 64 letters, digits and `_+=,.@-`; unset: `gw`.
   */
  sessionName?: string
  /**
   * CEL; a request without a valid name is rejected.
   */
  sessionNameExpression?: string
  tags?: CloudATag[]
}
/**
 * Exactly one of `value` and `expression`.
 */
export interface CloudATag {
  key: string
  value?: string
  /**
   * CEL; a request without a valid value is rejected.
   */
  expression?: string
}
/**
 * Sends an access token for Azure. It comes from the identity that one of the fields selects, or, without any, from the first of these that works: client secret of the environment, workload identity, managed identity, developer tools.
 */
export interface CloudBAuth {
  secretRef?: CloudBApplication
  managedIdentity?: CloudBManagedIdentity
  /**
   * The federated token of the pod.
   */
  workloadIdentity?: boolean
  /**
   * Standalone files only. The command-line tools of the user.
   */
  developerTools?: boolean
}
/**
 * Exactly one of `clientSecret` and `clientCertificate`.
 */
export interface CloudBApplication {
  clientID: SecretRef
  tenantID: SecretRef
  clientSecret?: SecretRef
  clientCertificate?: SecretRef1
}
/**
 * Points into RenderedSecrets. A key that is not there is a missing credential, never an empty one.
 */
export interface SecretRef1 {
  secret: string
}
/**
 * At most one identifier; without any, the identity that the system assigned.
 */
export interface CloudBManagedIdentity {
  clientId?: string
  objectId?: string
  resourceId?: string
}
/**
 * Sends an access or ID token for Google Cloud, of the credential JSON in `secretRef`, or, without it, of the application default credentials of the proxy.
 */
export interface CloudCAuth {
  type: 'AccessToken' | 'IdToken'
  secretRef?: SecretRef
  /**
   * Of ID tokens; unset: `https://` and the host of the backend.
   */
  audience?: string
}
export interface ExtraCredential {
  key: SecretRef
  location: CredentialLocation
}
/**
 * TLS towards the backend; an empty object means system trust and SNI from the destination host.
 */
export interface BackendTLS {
  sni?: string
  /**
   * PEM bundle; absent means system trust.
   */
  caCertificates?: string
  insecureSkipVerify?: 'All' | 'Hostname'
  alpnProtocols?: string[]
  clientCertificate?: SecretRef
  clientKey?: SecretRef
  /**
   * DNS names, URIs or IP addresses; the certificate must hold one of them. Replaces the check of the host name.
   *
   * @minItems 1
   */
  verifySubjectAltNames?: string[]
  keyExchangeGroups?: KeyExchangeGroup[]
}
export interface BackendTCP {
  connectTimeoutMs?: number
  keepalive?: Keepalive
}
/**
 * What is absent has the default of the process.
 */
export interface Keepalive {
  /**
   * Default true where a policy sets keepalive.
   */
  enabled?: boolean
  retries?: number
  timeMs?: number
  intervalMs?: number
}
export interface BackendHTTP {
  /**
   * One attempt to response headers.
   */
  requestTimeoutMs?: number
  /**
   * Absent: by appProtocol of the Service, then by the request.
   */
  version?: 'HTTP1' | 'HTTP2'
}
/**
 * Connections to the backend go through a proxy. The proxy's own policies (tls, tcp, auth) say how it is reached. Calls fail when it cannot be used.
 */
export interface BackendTunnel {
  proxy: BackendReference
}
export interface GuardGuardrailsA {
  identifier: string
  version: string
  region: string
  policies?: GuardService
}
export interface GuardGuardrailsC {
  templateId: string
  projectId: string
  location: string
  policies?: GuardService
}
/**
 * The defaults of the policy apply to each field that is not set: true, true, false, 1024, 0.
 */
export interface PromptCaching {
  cacheSystem?: boolean
  cacheMessages?: boolean
  cacheTools?: boolean
  minTokens?: number
  cacheMessageOffset?: number
}
/**
 * An endpoint picker with `envoy.service.ext_proc.v3.ExternalProcessor` names the endpoint of each request, in order of preference, by the endpoint picker protocol of the Gateway API Inference Extension. Only endpoints of the service that the policy is attached to are used.
 */
export interface InferenceRouting {
  picker: BackendReference
  /**
   * A picker that fails or names no endpoint of the service: FailOpen balances as without one.
   */
  failureMode: 'FailClosed' | 'FailOpen'
}
export interface Cors {
  allowOrigins?: string[]
  allowMethods?: string[]
  allowHeaders?: string[]
  exposeHeaders?: string[]
  allowCredentials?: boolean
  maxAgeSeconds?: number
}
/**
 * One rule. Rules of all levels are kept and evaluated together.
 */
export interface Authorization {
  action: 'Allow' | 'Deny' | 'Require'
  /**
   * CEL; all must be true for the rule to match. One that does not compile is kept and always errors.
   *
   * @minItems 1
   */
  matchExpressions: string[]
}
/**
 * Asks an authorization service about each request. Exactly one of `grpc` and `http`. A service that cannot be reached, also because the reference names nothing, leaves the decision to `failureMode`.
 */
export interface ExtAuth {
  service: BackendReference
  failureMode: 'FailClosed' | 'FailOpen'
  /**
   * Status of refusals under FailClosed; 403 when unset.
   */
  denyStatus?: number
  grpc?: ExtAuthGrpc
  http?: ExtAuthHttp
  /**
   * Names (lower case, pseudo-headers included) the service sees; unset: all with gRPC, `authorization` with HTTP.
   */
  allowedRequestHeaders?: string[]
  forwardBody?: ForwardBody
  cache?: ExtAuthCache
}
/**
 * Speaks `envoy.service.auth.v3.Authorization`.
 */
export interface ExtAuthGrpc {
  contextExtensions?: {
    [k: string]: string
  }
  /**
   * Namespace to CEL that gives a map; unset: claims of a verified JWT under `envoy.filters.http.jwt_authn`.
   */
  requestMetadata?: NamedExpression[]
}
/**
 * Sends a request with the method of the original one; only answer 200 allows.
 */
export interface ExtAuthHttp {
  /**
   * CEL; unset: the original path and query.
   */
  path?: string
  /**
   * CEL; location for answers 401 and 403.
   */
  redirect?: string
  /**
   * CEL; excludes `forwardBody`.
   */
  body?: string
  addRequestHeaders?: NamedExpression[]
  /**
   * Names (lower case) that an allowing answer puts on the request to the backend.
   */
  allowedResponseHeaders?: string[]
  /**
   * All headers of an allowing answer in place of those; not `host`, nor what is about the hop or the body of the answer.
   */
  allowsAllResponseHeaders?: boolean
  /**
   * Name to CEL over `request` and the answer as `response`; becomes CEL `extauthz`.
   */
  responseMetadata?: NamedExpression[]
}
/**
 * Larger bodies are refused with 413.
 */
export interface ForwardBody {
  bytesMax: number
  /**
   * gRPC: always in `raw_body`; else text goes in `body`.
   */
  packAsBytes?: boolean
}
/**
 * Exactly one of `ttl` and `ttlMs`. A failing key or time to live means the answer is not kept.
 */
export interface ExtAuthCache {
  /**
   * CEL; scalars only.
   *
   * @minItems 1
   */
  key: string[]
  /**
   * CEL: a duration (or its text), the timestamp or the Unix second of the end.
   */
  ttl?: string
  ttlMs?: number
  /**
   * 10000 when unset.
   */
  entriesMax?: number
}
/**
 * Checks JSON Web Tokens. Without a usable key no token is valid, so Strict refuses every request. Location, when unset: header `authorization` with prefix `Bearer` and a blank.
 */
export interface JwtAuthentication {
  mode: 'Strict' | 'Optional' | 'Permissive'
  providers: JwtProvider[]
  mcp?: McpOauth
  location?: ExtractionLocation
}
/**
 * `jwks` or `unavailable`; with neither the provider has no keys.
 */
export interface JwtProvider {
  /**
   * Equal to claim `iss`; unset: any.
   */
  issuer?: string
  /**
   * Claim `aud` holds one of them; unset: any.
   */
  audiences?: string[]
  /**
   * Claims that a token must have; unset: `exp`.
   */
  requiredClaims?: string[]
  /**
   * Public keys, a JSON Web Key Set as text; the operator fetches remote ones.
   */
  jwks?: string
  /**
   * Names the remote set the keys are from; the proxy requests missing keys from the process that fetches the set.
   */
  source?: string
  /**
   * Why there are no keys, for the log.
   */
  unavailable?: string
}
/**
 * Serves the OAuth metadata of an MCP server and leads clients there; goes with the first provider.
 */
export interface McpOauth {
  /**
   * Names are served in snake_case.
   */
  resourceMetadata?: {
    [k: string]: unknown
  }
  provider?: 'Auth0' | 'Keycloak' | 'Okta' | 'Descope' | 'Authentik' | 'Entra'
  clientId?: string
  clientSecret?: SecretRef
}
/**
 * Services with `gw.dev.ext_mcp.ExtMcp` that check requests to MCP servers and their results, in this order. A service that cannot be reached, also because the reference names nothing, leaves the decision to its `failureMode`.
 */
export interface MCPGuardrails {
  processors: MCPGuardrailsProcessor[]
}
export interface MCPGuardrailsProcessor {
  service: BackendReference
  failureMode: 'FailClosed' | 'FailOpen'
  /**
   * Methods without a match are not checked.
   */
  methods: MCPGuardrailsMethod[]
  metadata?: NamedExpression[]
  /**
   * Names (lower case, pseudo-headers included) the service gets; unset: all.
   */
  allowedRequestHeaders?: string[]
  /**
   * Names (lower case, pseudo-headers included) the service does not get.
   */
  disallowedRequestHeaders?: string[]
}
export interface MCPGuardrailsMethod {
  /**
   * A method, `prefix*`, `*suffix` or `*`.
   */
  method: string
  phase: 'Off' | 'Request' | 'Response' | 'Full'
}
/**
 * Judges endpoints by their answers and takes bad ones out for a while.
 */
export interface Health {
  /**
   * CEL on request and response. Unset: 5xx and gRPC errors are bad.
   */
  unhealthyCondition?: string
  eviction?: HealthEviction
}
export interface HealthEviction {
  /**
   * Unset: what the endpoint asked for, else 3 seconds.
   */
  durationMs?: number
  restoreHealth?: number
  consecutiveFailures?: number
  healthThreshold?: number
}
export interface Transformation {
  request?: Transform
  response?: Transform
}
/**
 * Order metadata, replace, add, set, remove, body. Values are CEL.
 */
export interface Transform {
  metadata?: NamedExpression[]
  /**
   * A map that becomes the whole header.
   */
  replace?: string
  add?: NamedExpression[]
  set?: NamedExpression[]
  remove?: string[]
  body?: string
}
export interface HeaderModifier {
  add?: HeaderValue[]
  set?: HeaderValue[]
  remove?: string[]
}
export interface RequestRedirect {
  scheme?: 'http' | 'https'
  host?: string
  port?: number
  path?: PathModifier
  status: 301 | 302 | 303 | 307 | 308
}
/**
 * Exactly one field.
 */
export interface PathModifier {
  full?: string
  /**
   * Replaces the matched prefix.
   */
  prefix?: string
}
export interface UrlRewrite {
  host?: string
  path?: PathModifier
}
/**
 * Sends a copy of a part of the requests to another backend and forgets the answer. The copy has no body.
 */
export interface RequestMirror {
  ref: BackendReference
  /**
   * Of the share of requests that are copied.
   */
  numerator: number
  denominator: number
}
/**
 * Route-side policies by field. `requestRedirect`, `urlRewrite` and `requestMirror` come from route filters only.
 */
export interface TrafficPayload {
  deny?: Deny
  timeouts?: Timeouts
  cors?: Cors
  jwtAuthentication?: JwtAuthentication
  basicAuthentication?: BasicAuthentication
  apiKeyAuthentication?: ApiKeyAuthentication
  extAuth?: ExtAuthOrConditional
  authorization?: Authorization
  retry?: Retry
  rateLimit?: RateLimitOrConditional
  rateLimitGlobal?: RateLimitGlobalOrConditional
  buffer?: TrafficBuffer
  extProc?: ExtProcOrConditional
  transformation?: TransformationOrConditional
  csrf?: Csrf
  requestHeaderModifier?: HeaderModifier
  responseHeaderModifier?: HeaderModifier
  hostRewrite?: HostRewrite
  urlRewrite?: UrlRewrite
  requestRedirect?: RequestRedirect
  delay?: Delay
  directResponse?: DirectResponseOrConditional
  requestMirror?: RequestMirror[]
}
export interface Timeouts {
  /**
   * Arrival to the end of the response, retries included.
   */
  requestMs?: number
  /**
   * One attempt to response headers.
   */
  backendRequestMs?: number
}
/**
 * Checks user names and passwords. `users` is the whole htpasswd text, one `name:hash` a line. Without users Strict refuses every request. Location, when unset: header `authorization` with prefix `Basic` and a blank.
 */
export interface BasicAuthentication {
  mode: 'Strict' | 'Optional'
  /**
   * Named in the challenge of a refusal.
   */
  realm: string
  users: SecretRef
  location?: ExtractionLocation
}
/**
 * Checks API keys. Without known keys Strict refuses every request. Location, when unset: header `authorization` with prefix `Bearer` and a blank.
 */
export interface ApiKeyAuthentication {
  mode: 'Strict' | 'Optional' | 'Permissive'
  /**
   * One key each: the key itself, or JSON `{"key": "..."}` or `{"keyHash": "sha256:<hex>"}` with optional `metadata`.
   */
  keys?: SecretRef[]
  /**
   * Keys of ConfigMaps. A hash is not a secret.
   */
  hashes?: ApiKeyHash[]
  location?: ExtractionLocation
}
export interface ApiKeyHash {
  /**
   * `sha256:` and 64 hex digits.
   */
  keyHash: string
  /**
   * Fields of CEL `apiKey`.
   */
  metadata?: {
    [k: string]: unknown
  }
}
export interface ConditionalExtAuth {
  /**
   * @minItems 1
   */
  conditional: ConditionalExtAuthEntry[]
}
export interface ConditionalExtAuthEntry {
  /**
   * CEL; absent means always.
   */
  condition?: string
  policy: ExtAuth
}
/**
 * Sends a request again after connection and name failures, upstream timeouts, responses with one of `codes`, and responses for which `condition` is true.
 */
export interface Retry {
  /**
   * How many times more; the first one is not counted.
   */
  attempts: number
  codes?: number[]
  backoffMs?: number
  /**
   * CEL; anything but true on the request means no retries.
   */
  precondition?: string
  /**
   * CEL on request and response.
   */
  condition?: string
}
/**
 * Token buckets of one proxy process. All entries are charged.
 */
export interface RateLimit {
  /**
   * @minItems 1
   */
  limits: LocalLimit[]
}
export interface LocalLimit {
  unit: 'Requests' | 'Tokens'
  tokensPerFill: number
  fillIntervalMs: number
  /**
   * Limit plus burst.
   */
  tokensMax: number
}
export interface ConditionalRateLimit {
  /**
   * @minItems 1
   */
  conditional: ConditionalRateLimitEntry[]
}
export interface ConditionalRateLimitEntry {
  /**
   * CEL; absent means always.
   */
  condition?: string
  policy: RateLimit
}
/**
 * Asks a rate limit service (`envoy.service.ratelimit.v3.RateLimitService`) about each request. A service that cannot be reached leaves the decision to `failureMode`.
 */
export interface RateLimitGlobal {
  service: BackendReference
  failureMode: 'FailClosed' | 'FailOpen'
  domain: string
  /**
   * @minItems 1
   */
  descriptors: RateLimitDescriptor[]
}
export interface RateLimitDescriptor {
  unit: 'Requests' | 'Tokens'
  /**
   * Name to CEL. One that fails drops the whole descriptor.
   *
   * @minItems 1
   */
  entries: NamedExpression[]
  /**
   * CEL; unset: 1 for Requests, total tokens for Tokens. Tokens are charged when the response is over.
   */
  cost?: string
  limitOverride?: RateLimitOverride
}
export interface RateLimitOverride {
  requestsPerUnit: number
  unit: 'Second' | 'Minute' | 'Hour' | 'Day' | 'Month' | 'Year'
}
export interface ConditionalRateLimitGlobal {
  /**
   * @minItems 1
   */
  conditional: ConditionalRateLimitGlobalEntry[]
}
export interface ConditionalRateLimitGlobalEntry {
  /**
   * CEL; absent means always.
   */
  condition?: string
  policy: RateLimitGlobal
}
/**
 * Holds bodies back until they are complete.
 */
export interface TrafficBuffer {
  request?: BufferBody
  response?: BufferBody
}
export interface BufferBody {
  /**
   * Unset: the buffer limit of the listener.
   */
  bytesMax?: number
  /**
   * A larger body: FailClosed refuses it, FailOpen streams it on.
   */
  failureMode: 'FailClosed' | 'FailOpen'
}
/**
 * Allows a service with `envoy.service.ext_proc.v3.ExternalProcessor` to read and change requests and responses. A service that cannot be reached, also because the reference names nothing, leaves the decision to `failureMode`.
 */
export interface ExtProc {
  service: BackendReference
  /**
   * FailOpen only as long as no part of a body was sent.
   */
  failureMode: 'FailClosed' | 'FailOpen'
  processingOptions?: ExtProcOptions
  /**
   * Sent with each message; namespace `gw.dev.grpc_initial_metadata` becomes metadata of the call itself.
   */
  metadataContext?: ExtProcMetadata[]
  /**
   * Sent with the first message about the request.
   */
  requestAttributes?: NamedExpression[]
  /**
   * Sent with the first message about the response.
   */
  responseAttributes?: NamedExpression[]
}
/**
 * Unset: headers and trailers are sent, bodies streamed both ways, modes not overridden.
 */
export interface ExtProcOptions {
  requestHeaderMode?: ExtProcPartMode
  responseHeaderMode?: ExtProcPartMode
  requestBodyMode?: ExtProcBodyMode
  responseBodyMode?: ExtProcBodyMode
  requestTrailerMode?: ExtProcPartMode
  responseTrailerMode?: ExtProcPartMode
  allowModeOverride?: boolean
}
export interface ExtProcMetadata {
  namespace: string
  values: NamedExpression[]
}
export interface ConditionalExtProc {
  /**
   * @minItems 1
   */
  conditional: ConditionalExtProcEntry[]
}
export interface ConditionalExtProcEntry {
  /**
   * CEL; absent means always.
   */
  condition?: string
  policy: ExtProc
}
export interface ConditionalTransformation {
  /**
   * @minItems 1
   */
  conditional: ConditionalTransformationEntry[]
}
export interface ConditionalTransformationEntry {
  /**
   * CEL; absent means always.
   */
  condition?: string
  policy: Transformation
}
export interface Csrf {
  additionalOrigins?: string[]
}
export interface HostRewrite {
  mode: 'Auto' | 'None'
}
/**
 * Waits before a request is forwarded. Exactly one field.
 */
export interface Delay {
  ms?: number
  /**
   * CEL that gives a duration or a number of milliseconds.
   */
  expression?: string
}
export interface DirectResponse {
  status: number
  body?: string
  /**
   * CEL.
   */
  bodyExpression?: string
  headers?: NamedExpression[]
}
export interface ConditionalDirectResponse {
  /**
   * @minItems 1
   */
  conditional: ConditionalDirectResponseEntry[]
}
export interface ConditionalDirectResponseEntry {
  /**
   * CEL; absent means always.
   */
  condition?: string
  policy: DirectResponse
}
/**
 * One rule of a TCPRoute or TLSRoute on one listener. In the order of their keys, the first that fits wins.
 */
export interface TCPRoute {
  key: string
  listenerKey: string
  kind?: 'TCPRoute' | 'TLSRoute'
  name: ObjectName
  ruleName?: string
  hostnames: string[]
  backends: RouteBackend[]
}
/**
 * A GwBackend or one generated part of it. Exactly one of static, dynamic, ai, mcp, models, agentCore, invalid, unsupported.
 */
export interface Backend {
  /**
   * `{namespace}/{name}` or `{namespace}/{name}/{target}`
   */
  key: string
  name: ObjectName
  /**
   * MCP target or provider name when this backend is a generated part.
   */
  section?: string
  static?: StaticTarget
  /**
   * The static target uses A2A.
   */
  a2a?: boolean
  /**
   * Destination from the Host header or SNI.
   */
  dynamic?: {}
  ai?: AIBackend
  mcp?: MCPBackend
  models?: ModelsBackend
  agentCore?: AgentCoreBackend
  /**
   * Why the backend cannot be used; requests fail with 500.
   */
  invalid?: string
  /**
   * The provider or kind of backend that this version does not run; requests fail with 501 and this text.
   */
  unsupported?: string
  inlinePolicies?: BackendPayload
}
/**
 * Either host and port, or unixPath.
 */
export interface StaticTarget {
  host?: string
  port?: number
  unixPath?: string
}
export interface AIBackend {
  /**
   * Priority order; providers of one group are equal.
   *
   * @minItems 1
   */
  groups: ProviderGroup[]
}
export interface ProviderGroup {
  /**
   * @minItems 1
   */
  providers: AIProvider[]
}
export interface AIProvider {
  name: string
  provider: ProviderSettings
  /**
   * Name in telemetry of a service without code of its own, such as `groq`.
   */
  service?: string
  hostOverride?: HostOverride
  backendRef?: BackendReference
  pathOverride?: string
  pathPrefix?: string
  /**
   * Counts the tokens of a prompt before the call, for token limits; false if not set.
   */
  tokenize?: boolean
  inlinePolicies?: BackendPayload
}
/**
 * Exactly one field; the names of providers are those of api/llm/providers.ts.
 */
export interface ProviderSettings {
  openai?: ModelChoice
  'azure-openai'?: AzureProvider
  'azure-foundry'?: AzureProvider
  anthropic?: ModelChoice
  gemini?: ModelChoice
  vertex?: VertexProvider
  bedrock?: BedrockProvider
  custom?: CustomProvider
  unsupported?: UnsupportedProvider
}
export interface ModelChoice {
  /**
   * Overrides the model of the request.
   */
  model?: string
}
export interface AzureProvider {
  /**
   * Host of the resource.
   */
  host: string
  /**
   * Paths of Foundry name a project.
   */
  resourceType: 'OpenAI' | 'Foundry'
  /**
   * `v1` (if not set), `preview` or a date.
   */
  apiVersion?: string
  /**
   * Of Foundry; the first part of `host` if not set.
   */
  project?: string
  /**
   * Overrides the model of the request; the deployment.
   */
  model?: string
}
export interface VertexProvider {
  projectId: string
  /**
   * Region of Google Cloud, `us`, `eu` or `global` (if not set).
   */
  region?: string
  /**
   * Overrides the model of the request.
   */
  model?: string
}
export interface BedrockProvider {
  /**
   * Overrides the model of the request.
   */
  model?: string
  /**
   * Region of AWS; `us-east-1` if not set.
   */
  region?: string
  guardrail?: BedrockGuardrail
}
export interface BedrockGuardrail {
  identifier: string
  version: string
}
export interface CustomProvider {
  model?: string
  /**
   * @minItems 1
   */
  formats: ProviderFormat[]
}
export interface ProviderFormat {
  type:
    | 'Completions'
    | 'Messages'
    | 'Responses'
    | 'Embeddings'
    | 'AnthropicTokenCount'
    | 'Realtime'
    | 'Rerank'
    | 'GenerateContent'
    | 'GeminiCountTokens'
  path?: string
}
/**
 * A provider that cannot be called; it is skipped, and a backend without another one refuses its requests.
 */
export interface UnsupportedProvider {
  /**
   * Name of the provider, or `none` if no usable one is set.
   */
  provider: string
  message: string
}
export interface HostOverride {
  host: string
  port: number
}
export interface MCPBackend {
  targets: MCPTarget[]
  sessionRouting: 'Stateful' | 'Stateless'
  prefixMode: 'Conditional' | 'Always' | 'Never'
  failureMode: 'FailOpen' | 'FailClosed'
  toolPinning?: McpToolPinning
}
/**
 * Exactly one of ref, stdio; openapi with ref.
 */
export interface MCPTarget {
  name: string
  ref?: BackendReference
  protocol?: 'StreamableHTTP' | 'SSE'
  path?: string
  openapi?: OpenApiTarget
  stdio?: StdioTarget
}
/**
 * The server of `ref` is not an MCP server; its operations become tools.
 */
export interface OpenApiTarget {
  /**
   * In front of the paths of operations.
   */
  basePath: string
  title: string
  version: string
  operations: OpenApiOperation[]
}
export interface OpenApiOperation {
  /**
   * Of the tool.
   */
  name: string
  description?: string
  method: string
  /**
   * With parameters, such as `/pets/{id}`.
   */
  path: string
  parameters: OpenApiParameter[]
  /**
   * Media type of `body`, a kind of JSON; unset: the operation has none.
   */
  bodyType?: string
  /**
   * JSON.
   */
  inputSchema: string
}
export interface OpenApiParameter {
  in: 'path' | 'query' | 'header'
  name: string
  style: 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'
  explode: boolean
}
/**
 * Standalone files only. A child process for each session.
 */
export interface StdioTarget {
  cmd: string
  args?: string[]
  env?: {
    [k: string]: string
  }
  /**
   * The process gets only env.
   */
  clearEnv?: boolean
}
export interface McpToolPinning {
  mode: 'Report' | 'Refuse'
  tools: McpToolPin[]
}
export interface McpToolPin {
  target: string
  /**
   * The server's own, without prefix.
   */
  name: string
  /**
   * `sha256:` and 64 hexadecimal digits (api/mcp/tool-digest.ts).
   */
  digest: string
}
/**
 * The models that one listener offers, in the order in which they are tried.
 */
export interface ModelsBackend {
  models: OfferedModel[]
}
/**
 * A model as clients name it. Exactly one of backend, weighted, conditional.
 */
export interface OfferedModel {
  /**
   * A model name, `x*`, `*x` or `*`.
   */
  name: string
  /**
   * One of them must match the request as well; absent: all requests.
   *
   * @minItems 1
   */
  matches?: ModelMatch[]
  /**
   * Creation time, seconds since the epoch.
   */
  createdAt?: number
  /**
   * Clients neither see it nor may ask for it.
   */
  internal?: boolean
  /**
   * Each rule must allow the request by itself.
   */
  authorization?: Authorization[]
  /**
   * Key of the backend that serves it.
   */
  backend?: string
  weighted?: ModelTarget[]
  /**
   * The first whose condition holds.
   */
  conditional?: ModelTarget[]
}
export interface ModelMatch {
  /**
   * @minItems 1
   */
  headers: ValueMatch[]
}
/**
 * What a virtual model may choose.
 */
export interface ModelTarget {
  /**
   * Key of the backend that serves it; absent: the model is not there.
   */
  backend?: string
  /**
   * Model to ask the backend for.
   */
  model?: string
  /**
   * Each rule must allow the request by itself.
   */
  authorization?: Authorization[]
  weight?: number
  /**
   * CEL; absent: always.
   */
  when?: string
}
export interface AgentCoreBackend {
  agentRuntimeRef: string
  qualifier?: string
}
/**
 * One field of one policy object on its target. The proxy merges policies by target; the operator does not flatten.
 */
export interface Policy {
  key: string
  name: PolicyName
  target: PolicyTarget
  /**
   * Traffic policies only; absent means PostRouting.
   */
  phase?: 'PreRouting' | 'PostRouting'
  /**
   * Locks the fields it sets against more specific levels.
   */
  inheritance?: 'Override'
  policy: PolicyPayload
}
export interface PolicyName {
  kind: string
  namespace: string
  name: string
}
/**
 * Exactly one field.
 */
export interface PolicyTarget {
  gateway?: GatewayTarget
  listenerSet?: ListenerSetTarget
  route?: RouteTarget
  service?: ServiceTarget
  backend?: BackendTarget
  /**
   * Many targets of one policy, which share its payload. None of them has several itself. A proxy that does not know the field refuses the configuration, and keeps the one it has.
   *
   * @minItems 1
   */
  several?: PolicyTarget[]
}
export interface GatewayTarget {
  namespace: string
  name: string
  listener?: string
  port?: number
}
export interface ListenerSetTarget {
  namespace: string
  name: string
  section?: string
}
export interface RouteTarget {
  kind: 'HTTPRoute' | 'GRPCRoute'
  namespace: string
  name: string
  ruleName?: string
}
export interface ServiceTarget {
  hostname: string
  namespace: string
  port?: number
}
export interface BackendTarget {
  namespace: string
  name: string
  section?: string
}
/**
 * Exactly one section holding exactly one field.
 */
export interface PolicyPayload {
  frontend?: FrontendPayload
  traffic?: TrafficPayload
  backend?: BackendPayload
}
export interface FrontendPayload {
  deny?: Deny
  http?: FrontendHTTP
  accessLog?: AccessLog
  tracing?: Tracing
  metrics?: Metrics
  networkAuthorization?: Authorization
  tls?: FrontendTLS
  tcp?: FrontendTCP
  connect?: FrontendConnect
  proxyProtocol?: FrontendProxyProtocol
}
export interface FrontendHTTP {
  /**
   * Default 2 MiB.
   */
  bufferBytesMax?: number
  /**
   * Default 100.
   */
  http1HeadersMax?: number
  /**
   * Default 10 minutes.
   */
  http1IdleTimeoutMs?: number
  http1HeaderCase?: 'Lowercase' | 'Preserve'
  maxConnectionDurationMs?: number
  /**
   * Of one stream. Default 65535.
   */
  http2WindowBytes?: number
  /**
   * Default 1 MiB.
   */
  http2ConnectionWindowBytes?: number
  /**
   * Default 16 KiB.
   */
  http2FrameBytes?: number
  /**
   * Default 16 KiB.
   */
  http2HeaderBytesMax?: number
  /**
   * Absent means no pings.
   */
  http2KeepaliveIntervalMs?: number
  /**
   * Default 20 seconds.
   */
  http2KeepaliveTimeoutMs?: number
}
export interface AccessLog {
  /**
   * CEL; logs only when true.
   */
  filter?: string
  add?: NamedExpression[]
  remove?: string[]
  otlp?: OtlpAccessLog
}
/**
 * Sent besides the line; has nothing of the fields above.
 */
export interface OtlpAccessLog {
  target: OtlpTarget
  /**
   * CEL; sends only when true.
   */
  filter?: string
  add?: NamedExpression[]
  remove?: string[]
}
/**
 * A collector of the OpenTelemetry protocol and how it is called.
 */
export interface OtlpTarget {
  service: BackendReference
  protocol: 'GRPC' | 'HTTP'
  /**
   * HTTP only; the default path of the signal when unset.
   */
  path?: string
}
/**
 * Spans of requests, sent to a collector.
 */
export interface Tracing {
  target: OtlpTarget
  /**
   * CEL, share or boolean, for requests without a trace; unset: none.
   */
  randomSampling?: string
  /**
   * CEL, share or boolean, for requests with a trace; unset: all.
   */
  clientSampling?: string
  /**
   * CEL at the end of the request; sends only when true.
   */
  filter?: string
  add?: NamedExpression[]
  remove?: string[]
  /**
   * Attributes of the resource; CEL, evaluated once.
   */
  resources?: NamedExpression[]
}
export interface Metrics {
  /**
   * Labels of every metric of a request; CEL.
   *
   * @minItems 1
   */
  add: NamedExpression[]
}
/**
 * Handshakes of TLS listeners.
 */
export interface FrontendTLS {
  /**
   * Default 15 seconds.
   */
  handshakeTimeoutMs?: number
  /**
   * In order of preference; protocols the proxy does not speak are never offered.
   */
  alpnProtocols?: string[]
  minProtocolVersion?: '1.2' | '1.3'
  maxProtocolVersion?: '1.2' | '1.3'
  cipherSuites?: string[]
  keyExchangeGroups?: KeyExchangeGroup[]
}
export interface FrontendTCP {
  keepalive?: Keepalive
}
/**
 * What becomes of requests with method CONNECT; absent means Deny.
 */
export interface FrontendConnect {
  mode: 'Deny' | 'Route' | 'Tunnel'
}
/**
 * The header of the PROXY protocol at the beginning of connections.
 */
export interface FrontendProxyProtocol {
  version: 'V1' | 'V2' | 'All'
  mode: 'Strict' | 'Optional'
}
export interface Service {
  name: string
  namespace: string
  /**
   * `{name}.{namespace}.svc.{cluster domain}`
   */
  hostname: string
  ports: ServicePort[]
  locality?: LocalityPreference
}
export interface ServicePort {
  port: number
  name?: string
  appProtocol?: string
}
/**
 * Which endpoints are near a proxy; absent means that all are alike.
 */
export interface LocalityPreference {
  /**
   * What an endpoint should have in common with the proxy; the more of the leading ones, the nearer it is.
   *
   * @minItems 1
   * @maxItems 6
   */
  preferences: ('Network' | 'Cluster' | 'Region' | 'Zone' | 'Subzone' | 'Node')[]
  /**
   * Failover takes the nearest endpoints that are not evicted; Strict only those that have everything in common.
   */
  mode: 'Failover' | 'Strict'
}
/**
 * One endpoint address and the Service ports it serves.
 */
export interface Workload {
  uid: string
  name?: string
  namespace?: string
  /**
   * @minItems 1
   */
  addresses: string[]
  node?: string
  region?: string
  zone?: string
  subzone?: string
  cluster?: string
  network?: string
  serviceAccount?: string
  /**
   * HBONE; connections of proxies that are part of a mesh go through a tunnel. Absent means TCP.
   */
  protocol?: 'HBONE'
  /**
   * Of its identity in the mesh; absent: that of the proxy.
   */
  trustDomain?: string
  /**
   * Weight among the endpoints of a Service; 0 gets no new requests, absent means 1.
   */
  capacity?: number
  healthy: boolean
  services: WorkloadService[]
}
export interface WorkloadService {
  hostname: string
  namespace: string
  /**
   * Zones it is meant for, wherever it is itself.
   */
  forZones?: string[]
  /**
   * The same of nodes.
   */
  forNodes?: string[]
  ports: WorkloadPort[]
}
export interface WorkloadPort {
  /**
   * Service port.
   */
  port: number
  targetPort: number
}
/**
 * Secret material of one Gateway, delivered beside the RenderedConfig and referred to by key.
 */
export interface RenderedSecrets {
  version: 1
  secrets: RenderedSecret[]
}
export interface RenderedSecret {
  /**
   * `{namespace}/{name}/{data key}`
   */
  key: string
  value: string
}
