// Calls of the admin server that serves this page. Paths are relative to `/ui/`, so that the page also works behind a
// prefix.
import { EventReader, type TraceEvent } from '#cli/trace/event-reader.ts'
import type { components } from '#api/admin/types.gen.ts'
import { noteRelay } from './relay.ts'

type Schemas = components['schemas']
export type Dump = Schemas['ConfigDump']
export type Overview = Schemas['Overview']
export type Traffic = Schemas['Traffic']
export type Connections = Schemas['Connections']
export type EndpointStates = Schemas['EndpointStates']
export type EndpointState = Schemas['EndpointState']
export type McpSessions = Schemas['McpSessions']
export type EffectivePolicies = Schemas['EffectivePolicies']
export type ModelPrices = Schemas['ModelPrices']
export type ModelUsage = Schemas['ModelUsage']
export type Limits = Schemas['Limits']
export type { TraceEvent }

const ANSWER_MS = 10_000
/** Characters of an error that the page shows. */
const PROBLEM_LENGTH_MAX = 500

export class ApiError extends Error {}

const UNAUTHORIZED = 401
const SIGN_IN = 'load this page again to sign in'

export async function configDump(signal: AbortSignal): Promise<Dump> {
  return (await (await ask('config_dump?compact', { signal })).json()) as Dump // api/admin/openapi.yaml
}

export async function overview(signal: AbortSignal): Promise<Overview> {
  return (await (await ask('overview', { signal })).json()) as Overview // api/admin/openapi.yaml
}

export async function memory(signal: AbortSignal): Promise<unknown> {
  return (await ask('memory', { signal })).json()
}

export async function traffic(signal: AbortSignal): Promise<Traffic> {
  return (await (await ask('traffic', { signal })).json()) as Traffic // api/admin/openapi.yaml
}

export async function connections(signal: AbortSignal): Promise<Connections> {
  return (await (await ask('connections', { signal })).json()) as Connections // api/admin/openapi.yaml
}

export async function endpointStates(signal: AbortSignal): Promise<EndpointStates> {
  return (await (await ask('endpoints', { signal })).json()) as EndpointStates // api/admin/openapi.yaml
}

export async function mcpSessions(signal: AbortSignal): Promise<McpSessions> {
  return (await (await ask('mcp_sessions', { signal })).json()) as McpSessions // api/admin/openapi.yaml
}

export async function modelPrices(signal: AbortSignal): Promise<ModelPrices> {
  return (await (await ask('model_prices', { signal })).json()) as ModelPrices // api/admin/openapi.yaml
}

/** `since`: undefined, since the start of the proxy. */
export async function modelUsage(since: Date | undefined, signal: AbortSignal): Promise<ModelUsage> {
  const query = since === undefined ? '' : `?${new URLSearchParams({ since: since.toISOString() }).toString()}`
  return (await (await ask(`model_usage${query}`, { signal })).json()) as ModelUsage // api/admin/openapi.yaml
}

export async function limits(signal: AbortSignal): Promise<Limits> {
  return (await (await ask('limits', { signal })).json()) as Limits // api/admin/openapi.yaml
}

/**
 * Of the rule with this key.
 * @throws {ApiError} The configuration has no such rule any more.
 */
export async function effectivePolicies(route: string, signal: AbortSignal): Promise<EffectivePolicies> {
  const response = await ask(`effective_policies?${new URLSearchParams({ route }).toString()}`, { signal })
  return (await response.json()) as EffectivePolicies // api/admin/openapi.yaml
}

export async function logLevel(signal: AbortSignal): Promise<string> {
  return (await (await ask('logging', { signal })).text()).replace(/^current log level is /, '').trim()
}

/** Until the process ends. The result is the text of the proxy. */
export async function setLogLevel(level: string, signal: AbortSignal): Promise<string> {
  return (await ask(`logging?${new URLSearchParams({ level }).toString()}`, { signal, body: {} })).text()
}

/** Ends the process after the requests in progress. The result is the text of the proxy. */
export async function drain(signal: AbortSignal): Promise<string> {
  return (await ask('quitquitquit', { signal, body: {} })).text()
}

/**
 * The events of the next request that matches, one after the other. `expression`: CEL, may be empty. `onReady`: all
 * threads wait for it.
 * @throws {ApiError} The expression is not valid, or too many watchers wait.
 */
export async function watchRequest(
  expression: string,
  signal: AbortSignal,
  { onEvent, onReady }: { readonly onEvent: (event: TraceEvent) => void; readonly onReady: () => void },
): Promise<void> {
  const query = expression === '' ? '' : `?${new URLSearchParams({ expression }).toString()}`
  const { body } = await ask(`debug/trace${query}`, { signal, isStream: true })
  if (body === null) return
  const reader = new EventReader(({ event }) => onEvent(event), onReady)
  const texts = body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await texts.read()
    if (done) return
    reader.push(value)
  }
}

export interface AskOptions {
  readonly signal: AbortSignal
  /** The answer may take any time. */
  readonly isStream?: boolean
  /** Posted as JSON; unset: GET. */
  readonly body?: object
  /** A status besides those of success that has an answer. */
  readonly also?: number
}

/** @throws {ApiError} */
export async function ask(path: string, { signal, isStream = false, body, also }: AskOptions): Promise<Response> {
  const limit = isStream ? signal : AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`../${path}`, {
    signal: limit,
    // To the page of a login, which this page may not load.
    redirect: 'manual',
    ...(body !== undefined && { method: 'POST', headers, body: JSON.stringify(body) }),
  })
  noteRelay(response.headers)
  if (response.ok || response.status === also) return response
  if (response.type === 'opaqueredirect') {
    throw new ApiError(`a login in front of the admin server redirects this page: ${SIGN_IN}`)
  }
  const text = (await response.text()).slice(0, PROBLEM_LENGTH_MAX).trim()
  const isLogin = response.status === UNAUTHORIZED && response.headers.get('www-authenticate') !== 'Bearer'
  throw new ApiError(`${response.status}: ${text}${isLogin ? `; ${SIGN_IN}` : ''}`)
}

/** What the page shows for a failure. */
export function problemOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'the admin server did not answer within 10 seconds'
  return 'the admin server cannot be reached; it may have stopped'
}
