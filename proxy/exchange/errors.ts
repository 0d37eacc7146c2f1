// The registry of all failures that a client can see: code, HTTP status, text, log reason. No other file defines error
// bodies.
import type { Reason } from './reason.ts'

export interface FailureKind {
  readonly status: number
  readonly reason: Reason
  /** Body sent to the client; a separator (default: a colon) and the detail follow if there is a detail. */
  readonly text: string
  readonly separator?: string
  /** `code` in the error object of formats that have one (data-plane supplement section 3.10). */
  readonly apiCode?: string
  /** One line for `docs/reference/errors.md`: the cause and the cure. */
  readonly doc: string
}

export const FAILURES = {
  bindNotFound: {
    status: 404,
    reason: 'NotFound',
    text: 'bind not found',
    doc: 'CONNECT with `frontend.connect` mode Tunnel names a port that the gateway does not listen on.',
  },
  listenerNotFound: {
    status: 404,
    reason: 'NotFound',
    text: 'listener not found',
    doc: 'No listener of the port serves this host. Check the Host header against the hostnames of the listeners.',
  },
  routeNotFound: {
    status: 404,
    reason: 'NotFound',
    text: 'route not found',
    doc: 'No route matched. Check hostnames, path, method, header and query matches.',
  },
  misdirectedRequest: {
    status: 421,
    reason: 'InvalidRequest',
    text: 'misdirected request',
    doc: 'The host belongs to another TLS listener than the one the connection was made to.',
  },
  invalidRequest: {
    status: 400,
    reason: 'InvalidRequest',
    text: 'invalid request',
    doc: 'The request is not valid HTTP. The connection is closed.',
  },
  headersTooLarge: {
    status: 431,
    reason: 'InvalidRequest',
    text: 'request header fields too large',
    doc: 'Too many or too large header fields (`frontend.http`).',
  },
  uriTooLong: {
    status: 414,
    reason: 'InvalidRequest',
    text: 'URI too long',
    doc: 'The request line exceeds the header limit.',
  },
  requestTimeoutRead: {
    status: 408,
    reason: 'InvalidRequest',
    text: 'request timeout',
    doc: 'The client did not send a whole request in time.',
  },
  bodyTooLarge: {
    status: 413,
    reason: 'InvalidRequest',
    text: 'request body too large',
    doc: 'A body that the proxy must read completely exceeds `frontend.http.maxBufferSize`.',
  },
  bufferRequestTooLarge: {
    status: 413,
    reason: 'InvalidRequest',
    text: '',
    doc: 'The body of the request exceeds `traffic.buffer.request.maxBytes`. The response has no body.',
  },
  bufferResponseTooLarge: {
    status: 502,
    reason: 'UpstreamFailure',
    text: '',
    doc: 'The body of the response exceeds `traffic.buffer.response.maxBytes`. The response to the client has no body.',
  },
  methodNotAllowed: {
    status: 405,
    reason: 'InvalidRequest',
    text: 'method not allowed',
    doc: 'CONNECT without `frontend.connect`, or a method that the endpoint does not support.',
  },
  expectationFailed: {
    status: 417,
    reason: 'InvalidRequest',
    text: 'expectation failed',
    doc: 'An Expect header other than 100-continue.',
  },
  destinationDenied: {
    status: 403,
    reason: 'Authorization',
    text: 'destination not allowed',
    doc: 'A dynamic forward proxy does not connect to loopback, link-local or metadata addresses; see `GW_DYNAMIC_FORWARD_ALLOW`.',
  },
  addressDenied: {
    status: 503,
    reason: 'UpstreamFailure',
    text: 'backend address not allowed',
    doc: 'In a cluster, a backend cannot have a loopback, link-local or metadata address, an address of the proxy itself, or a unix socket; the log has the address. See `GW_BACKEND_ALLOW_ADDRESSES` and `GW_BACKEND_ALLOW_UNIX_PATHS`.',
  },
  routeCycle: {
    status: 500,
    reason: 'Internal',
    text: 'route delegation cycle detected',
    doc: 'Delegated routes refer to each other in a cycle.',
  },
  noValidBackends: {
    status: 500,
    reason: 'NotFound',
    text: 'no valid backends',
    doc: 'The rule has no backend, or all weights are 0.',
  },
  backendNotFound: {
    status: 500,
    reason: 'NotFound',
    text: 'backend does not exist',
    doc: 'The backendRef of the rule could not be resolved; see ResolvedRefs of the route.',
  },
  backendUnsupported: {
    status: 501,
    reason: 'NotFound',
    text: 'backend not supported',
    doc: 'This version does not support the kind of backend, or the provider; the text names it.',
  },
  serviceNotFound: {
    status: 500,
    reason: 'NotFound',
    text: 'service not found',
    doc: 'The Service of the backendRef does not exist.',
  },
  invalidBackendType: {
    status: 500,
    reason: 'Internal',
    text: 'invalid backend type',
    doc: 'This backend cannot serve this kind of request.',
  },
  noHealthyBackends: {
    status: 503,
    reason: 'NoHealthyBackend',
    text: 'no healthy backends',
    doc: 'The Service has no endpoint that is ready.',
  },
  dnsFailure: {
    status: 503,
    reason: 'UpstreamFailure',
    text: 'backends required DNS resolution which failed',
    doc: 'The host of the backend does not resolve.',
  },
  upstreamFailure: {
    status: 503,
    reason: 'UpstreamFailure',
    text: 'upstream call failed',
    doc: 'Connection refused or reset, TLS failure, or an invalid response of the backend; the text names the cause, the log also the address.',
  },
  responseBroken: {
    status: 502,
    reason: 'UpstreamFailure',
    text: 'upstream response broken',
    doc: 'The backend closed the connection during its response, or sent invalid framing, before the proxy sent any of the response to the client. A response that has started is cut short.',
  },
  upstreamTimeout: {
    status: 504,
    reason: 'Timeout',
    text: 'upstream call timeout',
    doc: 'The backend did not answer within its request or connect timeout.',
  },
  requestTimeout: {
    status: 504,
    reason: 'Timeout',
    text: 'request timeout',
    doc: 'The route timeout (`timeouts.request`) expired. A response that has started keeps its status and is cut short.',
  },
  unsupportedProtocol: {
    status: 501,
    reason: 'InvalidRequest',
    text: 'unsupported protocol',
    doc: 'An HTTP/2 client requested a tunnel for a protocol other than WebSocket (RFC 8441).',
  },
  upgradeFailed: {
    status: 502,
    reason: 'UpstreamFailure',
    text: 'request upgrade failed',
    separator: ', ',
    doc: 'The backend did not switch to the requested protocol.',
  },
  jwtAuthFailed: {
    status: 401,
    reason: 'JwtAuth',
    text: 'authentication failure',
    doc: 'The JSON Web Token is missing or not valid (`traffic.jwtAuthentication`); the text has the reason.',
  },
  identityProviderFailed: {
    status: 502,
    reason: 'JwtAuth',
    text: 'the identity provider is not available',
    doc: 'The OAuth metadata, registration or token request for an MCP server (`traffic.jwtAuthentication.mcp`) failed.',
  },
  basicAuthFailed: {
    status: 401,
    reason: 'BasicAuth',
    text: 'basic authentication failure',
    doc: 'User name and password are missing or wrong (`traffic.basicAuthentication`).',
  },
  proxyBasicAuthFailed: {
    status: 407,
    reason: 'BasicAuth',
    text: 'basic authentication failure',
    doc: 'As `basicAuthFailed`, where the credentials are read from header Proxy-Authorization.',
  },
  apiKeyAuthFailed: {
    status: 401,
    reason: 'APIKeyAuth',
    text: 'api key authentication failure',
    doc: 'The API key is missing or unknown (`traffic.apiKeyAuthentication`).',
  },
  authorizationFailed: {
    status: 403,
    reason: 'Authorization',
    text: 'authorization failed',
    doc: 'An authorization rule rejected the request.',
  },
  extAuthzFailed: {
    status: 403,
    reason: 'ExtAuth',
    text: 'external authorization failed',
    doc: 'The authorization service (`traffic.extAuth`) rejected the request or did not answer; the log has the cause.',
  },
  extAuthzBodyTooLarge: {
    status: 413,
    reason: 'ExtAuth',
    text: 'external authorization failed',
    doc: 'The request body exceeds `extAuth.forwardBody.maxSize`.',
  },
  extProcFailed: {
    status: 500,
    reason: 'ExtProc',
    text: 'ext_proc failed',
    doc: 'The processing service (`traffic.extProc`) did not answer, or sent an answer that is not allowed; the text names the cause.',
  },
  csrfFailed: {
    status: 403,
    reason: 'Authorization',
    text: 'CSRF validation failed',
    doc: 'A cross-site request from an origin that is not listed.',
  },
  policyDenied: {
    status: 403,
    reason: 'Authorization',
    text: 'denied by policy',
    doc: 'A security policy that cannot be enforced covers this request; see the status of the policy.',
  },
  backendTlsInvalid: {
    status: 500,
    reason: 'Internal',
    text: 'the TLS configuration of the backend is invalid',
    doc: 'TLS towards the backend is asked for by a BackendTLSPolicy or client certificate that cannot be used; see its status.',
  },
  rateLimited: {
    status: 429,
    reason: 'RateLimit',
    text: 'rate limit exceeded',
    doc: 'A local or global rate limit is exceeded; `retry-after` has the seconds until the reset.',
  },
  rateLimitFailed: {
    status: 500,
    reason: 'RateLimit',
    text: 'rate limit failed',
    doc: 'The rate limit service (`traffic.rateLimit.global`) did not answer; the log has the reason.',
  },
  backendAuthFailed: {
    status: 500,
    reason: 'Internal',
    text: 'backend authentication failed',
    doc: 'The credential for the backend is missing or could not be fetched.',
  },
  subjectTokenRejected: {
    status: 400,
    reason: 'InvalidRequest',
    text: 'backend authentication failed',
    doc: 'The request has no token to exchange for one of the backend, or the token endpoint rejected it; the log contains its error code.',
  },
  actorNotPermitted: {
    status: 403,
    reason: 'Authorization',
    text: 'backend authentication failed: the actor is not permitted',
    doc: 'The subject token has no `may_act` that matches the actor token (`oauthTokenExchange.actorToken.mayAct`).',
  },
  directResponseFailed: {
    status: 500,
    reason: 'Internal',
    text: 'failed to apply filters: direct response body',
    doc: 'The body expression of a direct response failed.',
  },
  filtersFailed: {
    status: 500,
    reason: 'Internal',
    text: 'failed to apply filters',
    doc: 'A rewrite or redirect of the path cannot be applied to the request; the text has the reason.',
  },
  llmRequestInvalid: {
    status: 400,
    reason: 'InvalidRequest',
    text: 'failed to process LLM request',
    doc: 'The body is not valid JSON, lacks a field, or cannot be translated for the provider; the text names the cause.',
  },
  llmRequestTooLarge: {
    status: 413,
    reason: 'InvalidRequest',
    text: 'failed to process LLM request',
    doc: 'The body of an LLM request exceeds `frontend.http.maxBufferSize`.',
  },
  modelRequestInvalid: {
    status: 400,
    reason: 'InvalidRequest',
    text: 'the request body is not a valid JSON object',
    apiCode: 'invalid_request_body',
    doc: 'A request to a listener with GwModels has no JSON body. The body of the answer has an `error` with this text.',
  },
  modelMissing: {
    status: 400,
    reason: 'InvalidRequest',
    text: 'the request does not name a model',
    apiCode: 'missing_model',
    doc: 'A request to a listener with GwModels has no field `model`. Name one of `/v1/models`.',
  },
  modelRequestTooLarge: {
    status: 413,
    reason: 'InvalidRequest',
    text: 'the request body is too large',
    apiCode: 'request_body_too_large',
    doc: 'The body of a request to a listener with GwModels exceeds `frontend.http.maxBufferSize`.',
  },
  modelNotFound: {
    status: 404,
    reason: 'NotFound',
    text: 'model not found',
    apiCode: 'model_not_found',
    doc: 'No public GwModel of the listener has this name. `/v1/models` lists them.',
  },
  modelDenied: {
    status: 403,
    reason: 'Authorization',
    text: 'not authorized for this model',
    apiCode: 'model_authorization_denied',
    doc: 'The `authorization` of the GwModel, or of the target of a virtual model, does not allow the request.',
  },
  virtualModelUnresolved: {
    status: 404,
    reason: 'NotFound',
    text: 'virtual model has no valid target',
    apiCode: 'virtual_model_not_resolved',
    doc: 'None of the targets of a virtual GwModel exists; its status has the reason.',
  },
  virtualModelNoMatch: {
    status: 400,
    reason: 'InvalidRequest',
    text: 'no target of the virtual model matches the request',
    apiCode: 'virtual_model_no_matching_target',
    doc: 'All `when` conditions of a conditional GwModel are false, and its last target also has a `when`.',
  },
  virtualModelTargetMissing: {
    status: 404,
    reason: 'NotFound',
    text: 'the selected model does not exist',
    apiCode: 'virtual_model_target_not_found',
    doc: 'A virtual GwModel chose a target that does not exist; its status says which.',
  },
  llmRequestEncoding: {
    status: 415,
    reason: 'InvalidRequest',
    text: 'failed to process LLM request',
    doc: 'The content-encoding of the request is not gzip, deflate, br or zstd.',
  },
  promptGuardFailed: {
    status: 503,
    reason: 'Guardrail',
    text: 'prompt guard failed',
    doc: 'A prompt guard (`backend.ai.promptGuard`) has no verdict: its service did not answer, or the texts exceed a limit; the log has the cause.',
  },
  llmResponseInvalid: {
    status: 502,
    reason: 'UpstreamFailure',
    text: 'failed to process LLM response',
    doc: 'The response of the provider is not valid in the format of the provider, or it is too large.',
  },
  overloaded: {
    status: 503,
    reason: 'NoHealthyBackend',
    text: 'overloaded',
    doc: 'The proxy sheds load: too many connections, requests in flight, or concurrent checks of credentials.',
  },
  internal: {
    status: 503,
    reason: 'Internal',
    text: 'processing failed',
    doc: 'A bug of the proxy; the log has the details.',
  },
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof FAILURES
