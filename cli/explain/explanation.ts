// Explains a response from the events of its trace: the route, the policy that decided, the object and field that set
// it, and what would change the result. Pure.
import { recordOf } from '#api/json.ts'
import { FAILURES, type FailureKind } from '#proxy/exchange/errors.ts'
import { displayName, type PolicyLevel } from '#proxy/trace/policy-names.ts'
import type { TraceEvent } from '../trace/event-reader.ts'

type Message = TraceEvent['message']

export interface Explanation {
  /** undefined: the response is incomplete. */
  readonly status: number | undefined
  /** Of the log; undefined for a response of the backend. */
  readonly error: string | undefined
  readonly milliseconds: number
  readonly listener: string | undefined
  readonly route: string | undefined
  /** As in `/config_dump`. */
  readonly routeKey: string | undefined
  readonly decision: Decision
  /** Results of policies before the decision. */
  readonly before: readonly string[]
  /** What would change the result; undefined for a request that succeeded, and where only `meaning` is known. */
  readonly cure: string | undefined
  /** Of the failure, from the registry of failures. */
  readonly meaning: string | undefined
}

export interface Decision {
  readonly by: 'policy' | 'routing' | 'backend' | 'gateway'
  readonly name: string
  /** Objects and fields that set the policy. */
  readonly sources: readonly PolicySource[]
  /** Rules with their results, or the reason of the failure. */
  readonly details: readonly string[]
}

export interface PolicySource {
  /** As in `/config_dump`. */
  readonly key: string
  readonly object: string
  /** undefined: only the key is known. */
  readonly field: string | undefined
}

const LEVELS: ReadonlyMap<unknown, PolicyLevel> = new Map([
  ['gateway', 'gateway'],
  ['route', 'route'],
  ['backend', 'backend'],
  ['inlineBackend', 'backend'],
  ['subBackend', 'backend'],
])
/** Fields of the rendered configuration with another name in GwPolicies. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['rateLimitGlobal', 'rateLimit'],
  ['requestHeaderModifier', 'headerModifiers'],
  ['responseHeaderModifier', 'headerModifiers'],
  ['mcpAuthentication', 'mcp'],
  ['mcpAuthorization', 'mcp'],
])
const ANSWERED = /^answered \d/

/** undefined: the end of the request is not among the events. */
export function explanationOf(all: readonly TraceEvent[]): Explanation | undefined {
  // Those of other calls have a scope.
  const events = all.filter(({ scope = [] }) => scope.length === 0)
  const messages = events.map(({ message }) => message)
  const last = events.findLast(({ message }) => message.type === 'requestFinished')
  if (last === undefined) return undefined
  const { status, error } = last.message
  const at = messages.findLastIndex(isAnswer)
  const decision = decisionOf(messages, at, error ?? undefined)
  const failure = failureOf(status, messages)
  return {
    status,
    error: error ?? undefined,
    milliseconds: last.eventEnd / 1000,
    listener: listenerOf(messages),
    route: routeOf(messages),
    routeKey: messages.findLast(({ type }) => type === 'routeSelection')?.selectedRoute,
    decision,
    before: policyResults(messages.slice(0, at === -1 ? undefined : at)),
    ...(status !== undefined && status < 400 ? NO_ADVICE : adviceOf(decision, { messages, at, failure })),
  }
}

/** Position of the event by which a policy answered; -1: none did. */
export function decidingEvent(events: readonly TraceEvent[]): number {
  return events.findLastIndex(({ scope = [], message }) => scope.length === 0 && isAnswer(message))
}

function isAnswer({ type, result }: Message): boolean {
  return type === 'policy' && ANSWERED.test(detailsOf(result))
}

function decisionOf(messages: readonly Message[], at: number, error: string | undefined): Decision {
  const answer = messages[at]
  if (answer !== undefined) return policyDecision(messages, at, answer)
  const call = messages.findLast(({ type }) => type === 'backendCallResult')
  if (call !== undefined) {
    const result = call.status === undefined ? `no response: ${call.error ?? 'unknown'}` : `status ${call.status}`
    return { by: 'backend', name: call.target ?? 'the backend', sources: [], details: [result] }
  }
  const missed = missedRouting(messages)
  if (missed !== undefined) return { by: 'routing', sources: [], ...missed }
  return { by: 'gateway', name: 'the gateway', sources: [], details: error === undefined ? [] : [error] }
}

/** undefined: a listener and a route were found. */
function missedRouting(messages: readonly Message[]): Pick<Decision, 'name' | 'details'> | undefined {
  const listener = messages.find(({ type, kind }) => type === 'policyEvent' && kind === 'listener')
  if (listener !== undefined) return { name: 'no listener matches', details: [listener.details ?? ''] }
  const routing = messages.findLast(({ type }) => type === 'routeSelection')
  if (routing === undefined || routing.selectedRoute !== undefined) return undefined
  const { evaluatedRoutes: rules = [] } = routing
  const details =
    rules.length === 0 ? ['the listener has no rule for the host'] : rules.map((rule) => `no match: ${rule}`)
  return { name: 'no route matches', details }
}

function policyDecision(messages: readonly Message[], at: number, { kind = '', result }: Message): Decision {
  const before = messages.slice(0, at)
  const authorization = before.findLast(({ type }) => type === 'authorizationResult')
  const details =
    kind.endsWith('authorization') && authorization !== undefined
      ? ruleLines(authorization, before)
      : [detailsOf(result).replace(/^answered \d+(?:: )?/, '')].filter((text) => text !== '')
  return { by: 'policy', name: kind, sources: sourcesOf(before, kind), details }
}

/** Each rule with its result; the value of its expression if it failed. */
function ruleLines({ rules = [] }: Message, before: readonly Message[]): string[] {
  const errors = new Map(
    before.flatMap(({ type, expr = '', result }) => {
      const { error } = recordOf(result)
      return type === 'cel' && typeof error === 'string' ? [[expr, error] as const] : []
    }),
  )
  return rules.map(({ mode, name, matched }) => {
    const error = errors.get(name)
    return `${mode} ${name}: ${error ?? (matched ? 'true' : 'false')}`
  })
}

/** Of the policy with this display name, from the last selection of its level. */
function sourcesOf(preceding: readonly Message[], kind: string): PolicySource[] {
  for (const { type, phase, effectivePolicy, sources = {} } of preceding.toReversed()) {
    if (type !== 'policySelection') continue
    const field = Object.keys(recordOf(effectivePolicy)).find((name) => displayName(name, LEVELS.get(phase)) === kind)
    if (field !== undefined) return (sources[field] ?? []).map((key) => sourceOf(key, field))
  }
  return []
}

/** `traffic/shop/limits:rl-local:shop/api` belongs to the GwPolicy shop/limits. */
const POLICY_KEY = /^(traffic|backend|frontend)\/([^:]+):/
const RULE_KEY = /^route\/(.+?)(?:\/[a-zA-Z]+\/\d+)?$/

/** `key`: of a policy or rule, as in `/config_dump`; `field`: in the rendered configuration. */
export function sourceOf(key: string, field: string): PolicySource {
  const [, section, name] = POLICY_KEY.exec(key) ?? []
  if (section !== undefined)
    return { key, object: `GwPolicy ${name}`, field: `spec.${section}.${FIELDS.get(field) ?? field}` }
  const rule = RULE_KEY.exec(key)?.[1]
  return { key, object: rule === undefined ? key : `the rule ${rule}`, field: rule === undefined ? undefined : field }
}

function listenerOf(messages: readonly Message[]): string | undefined {
  const { listener, gateway } = messages.find((one) => one.type === 'policySelection' && one.phase === 'gateway') ?? {}
  return listener === undefined ? undefined : `${listener} of ${gateway ?? ''}`
}

function routeOf(messages: readonly Message[]): string | undefined {
  const selection = messages.findLast(({ type }) => type === 'routeSelection')
  if (selection?.selectedRoute === undefined) return undefined
  const { route = selection.selectedRoute, rule } = selection
  return rule === undefined ? route : `${route}, rule ${rule}`
}

/** Those that report more than that they ran. */
function policyResults(messages: readonly Message[]): string[] {
  return messages.flatMap(({ type, kind, result }) => {
    const details = detailsOf(result)
    return type !== 'policy' || details === '' || details === 'applied' ? [] : [`${kind ?? ''}: ${details}`]
  })
}

interface Circumstances {
  readonly messages: readonly Message[]
  readonly at: number
  readonly failure: FailureKind | undefined
}

type Advice = Pick<Explanation, 'cure' | 'meaning'>

const NO_ADVICE: Advice = { cure: undefined, meaning: undefined }

function adviceOf({ by, sources, name }: Decision, { messages, at, failure }: Circumstances): Advice {
  const objects = [...new Set(sources.map(({ object }) => object))].join(' and ')
  const change = objects === '' ? '' : `, or change ${objects}`
  if (by === 'policy' && name.endsWith('authorization')) {
    return { ...NO_ADVICE, cure: `${ruleCure(messages.slice(0, at))}${change}` }
  }
  const answer = messages.findLast(({ type }) => type === 'backendCallResult')
  if (by === 'backend' && answer?.status !== undefined) {
    return { ...NO_ADVICE, cure: `the backend ${name} sent this response; read its log` }
  }
  const meaning = failure?.doc ?? 'docs/reference/errors.md lists the responses of the gateway'
  return { ...NO_ADVICE, meaning: objects === '' ? meaning : `${meaning} Set by ${objects}.` }
}

function ruleCure(before: readonly Message[]): string {
  const { rules = [] } = before.findLast(({ type }) => type === 'authorizationResult') ?? {}
  if (rules.some(({ mode, matched }) => mode === 'deny' && matched)) {
    return 'send a request for which every deny rule is false'
  }
  if (rules.some(({ mode, matched }) => mode === 'require' && !matched)) {
    return 'send a request for which every require rule is true'
  }
  return 'send a request for which an allow rule is true'
}

/** The entry of the registry with this status whose text is in the body. */
function failureOf(status: number | undefined, messages: readonly Message[]): FailureKind | undefined {
  const { body = '' } = messages.findLast(({ type, stage }) => type === 'bodySnapshot' && stage === 'response') ?? {}
  // The texts of the registry are ASCII.
  const text = atob(body)
  const kinds: readonly FailureKind[] = Object.values(FAILURES)
  return kinds
    .filter((kind) => kind.status === status && text.includes(kind.text))
    .toSorted((a, b) => b.text.length - a.text.length)[0]
}

function detailsOf(result: unknown): string {
  const { type, details } = recordOf(result)
  return type === 'apply' && typeof details === 'string' ? details : ''
}
