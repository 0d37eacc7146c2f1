// One line for each event. Texts of requests reach the terminal, so control characters in them are escaped.
import { printable } from '#api/printable.ts'
import type { TraceEvent } from './event-reader.ts'

type Message = TraceEvent['message']

const SUMMARY_CHARACTERS_MAX = 160

const LABELS: ReadonlyMap<string, string> = new Map([
  ['requestStarted', 'Request Start'],
  ['requestSnapshot', 'Snapshot'],
  ['responseSnapshot', 'Snapshot'],
  ['routeSelection', 'Route'],
  ['policySelection', 'Policies'],
  ['policy', 'Policy'],
  ['policyEvent', 'Policy Event'],
  ['cel', 'CEL'],
  ['authorizationResult', 'Authz'],
  ['backendCallStart', 'Backend Start'],
  ['backendCallResult', 'Backend Result'],
  ['bodySnapshot', 'Body'],
  ['llmRouteResolved', 'LLM Route'],
  ['llmRequestDetected', 'LLM Request'],
  ['llmStreamingTranslation', 'LLM Stream'],
  ['llmUsage', 'LLM Usage'],
  ['traceSampling', 'Trace Sampling'],
  ['requestFinished', 'Request Done'],
])

export function labelOf({ message }: TraceEvent): string {
  return LABELS.get(message.type) ?? printable(message.type)
}

/** Since the request began. */
export function millisecondsOf({ eventEnd }: TraceEvent): string {
  return (eventEnd / 1000).toFixed(1)
}

export function summaryOf({ message, scope = [] }: TraceEvent): string {
  const summarise = SUMMARIES.get(message.type)
  const text = printable(summarise === undefined ? textOf(message) : summarise(message))
  const whole = scope.length === 0 ? text : `${printable(scope.join(' > '))}: ${text}`
  return whole.length > SUMMARY_CHARACTERS_MAX ? `${whole.slice(0, SUMMARY_CHARACTERS_MAX - 1)}…` : whole
}

const SUMMARIES: ReadonlyMap<string, (message: Message) => string> = new Map([
  ['requestStarted', () => 'request started'],
  ['requestSnapshot', ({ stage }: Message) => stage ?? ''],
  ['responseSnapshot', ({ stage }: Message) => stage ?? ''],
  ['routeSelection', routeSelection],
  ['policySelection', policySelection],
  ['policy', policy],
  ['policyEvent', ({ kind, details }: Message) => `${kind}: ${details}`],
  ['cel', cel],
  ['authorizationResult', authorization],
  ['backendCallStart', ({ target }: Message) => target ?? ''],
  ['backendCallResult', (message: Message) => `${message.target ?? ''} ${outcome(message)}`],
  ['bodySnapshot', body],
  ['llmRouteResolved', (message: Message) => `${textOf(message['routeType'])} to ${textOf(message['provider'])}`],
  ['llmRequestDetected', llmRequest],
  ['llmStreamingTranslation', (message: Message) => `${textOf(message['from'])} => ${textOf(message['to'])}`],
  ['llmUsage', llmUsage],
  ['requestFinished', (message: Message) => `request finished ${outcome(message)}`],
])

function routeSelection({ selectedRoute, evaluatedRoutes = [], rule }: Message): string {
  const evaluated = `(${evaluatedRoutes.length} evaluated)`
  if (selectedRoute === undefined) return `no route selected ${evaluated}`
  return `selected ${selectedRoute} ${evaluated}${rule === undefined ? '' : `: rule ${rule}`}`
}

const PHASES: ReadonlyMap<string, string> = new Map([
  ['subBackend', 'sub-backend'],
  ['inlineBackend', 'inline backend'],
])

function policySelection({ phase, effectivePolicy, sources = {}, gateway, listener, backend }: Message): string {
  const level = textOf(phase)
  const names = Object.keys(fieldsOf(effectivePolicy)).map((field) => withOrigin(field, sources[field] ?? []))
  const policies = `${PHASES.get(level) ?? level} effective policies: ${names.length === 0 ? 'none' : names.join(', ')}`
  if (listener !== undefined) return `${policies}; listener ${listener} of ${gateway ?? ''}`
  return backend === undefined ? policies : `${policies}; backend ${backend}`
}

/** `traffic/shop/limits:rl-local:shop/api` belongs to shop/limits; a policy of the rule itself has no name. */
function withOrigin(field: string, keys: readonly string[]): string {
  const policies = keys.flatMap((key) => {
    const name = POLICY_KEY.exec(key)?.[1]
    return name === undefined || key.startsWith('route/') ? [] : [name]
  })
  return policies.length === 0 ? field : `${field} (${policies.join(', ')})`
}

const POLICY_KEY = /^(?:traffic\/|frontend\/)?([^:]+)/

function policy({ kind, result }: Message): string {
  const { type, reason, details } = fieldsOf(result)
  return type === 'skip' ? `${kind} skipped: ${textOf(reason)}` : `${kind}: ${textOf(details)}`
}

function cel({ expr, result }: Message): string {
  const { value, error } = fieldsOf(result)
  return `${expr} => ${error === undefined ? textOf(value) : `error: ${textOf(error)}`}`
}

function authorization({ result, rules = [] }: Message): string {
  const count = (mode: string): number => rules.filter((rule) => rule.mode === mode && rule.matched).length
  const verdict = result === 'allow' ? 'allowed' : 'denied'
  return `${verdict} (${count('allow')} allow, ${count('deny')} deny, ${count('require')} require matches)`
}

function body({ stage = '', body: text = '', truncated }: Message): string {
  return `${stage}, ${atob(text).length} bytes${truncated === true ? ' and more' : ''}`
}

function llmRequest(message: Message): string {
  const { inputFormat, outputFormat, model, streaming } = fieldsOf(message)
  const formats =
    inputFormat === outputFormat ? textOf(inputFormat) : `${textOf(inputFormat)} => ${textOf(outputFormat)}`
  return `${formats} model=${textOf(model)} streaming=${textOf(streaming)}`
}

function llmUsage({ inputTokens = 0, outputTokens = 0, cost, costStatus }: Message): string {
  const price = cost === undefined ? `no price (${costStatus ?? 'unknown'})` : `${cost} USD`
  return `${inputTokens} input tokens, ${outputTokens} output tokens, ${price}`
}

function outcome({ status, error }: Message): string {
  const parts = [
    ...(status === undefined ? [] : [`status=${status}`]),
    ...(typeof error === 'string' ? [`error=${error}`] : []),
  ]
  return parts.join(' ')
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
