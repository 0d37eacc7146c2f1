// Guards in their order: each gets the texts with the masks of the previous ones, and the first rejection ends the
// chain (data-plane supplement section 3.6). Reports results to log, metrics and trace, never with text.
import type { GuardSettings, PromptGuard } from '#api/ir/types.gen.ts'
import { isInTime } from '../../backend/failover.ts'
import { ServiceError } from '../../chain/service.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { GuardAction } from '../../exchange/facts.ts'
import { HeaderList } from '../../message/headers.ts'
import { HttpResponse } from '../../message/message.ts'
import type { GuardEnvironment } from './external.ts'
import type { Guard, GuardedTexts, GuardPhase, GuardVerdict, Rejection } from './guard.ts'
import { guardrailsA } from './guardrails-a.ts'
import { guardrailsC } from './guardrails-c.ts'
import { moderation } from './moderation.ts'
import { regexGuard } from './regex.ts'
import { webhook } from './webhook.ts'

export interface ChainedGuard {
  readonly guard: Guard
  readonly rejection: Rejection
}

export interface GuardChains {
  readonly request: readonly ChainedGuard[]
  readonly response: readonly ChainedGuard[]
  /** Streamed responses are checked as well. */
  readonly checksStreams: boolean
}

export type ChainResult =
  /** One for each span. */
  | { readonly kind: 'passed'; readonly texts: readonly string[] }
  | { readonly kind: 'rejected'; readonly rejection: Rejection; readonly detail: string }
  /** A guard without a verdict; `detail` is for the log. */
  | { readonly kind: 'failed'; readonly detail: string }

export function compileGuards(
  { request = [], response = [], streaming = false }: PromptGuard,
  environment: GuardEnvironment,
): GuardChains {
  const chained = (settings: GuardSettings, phase: GuardPhase): ChainedGuard => {
    const { status, body, headers = [] } = settings.rejection
    return {
      guard: compileGuard(settings, phase, environment),
      rejection: { status, body, headers: headers.map(({ name, value }) => [name, value]) },
    }
  }
  return {
    request: request.map((settings) => chained(settings, 'Request')),
    response: response.map((settings) => chained(settings, 'Response')),
    checksStreams: streaming,
  }
}

function compileGuard(settings: GuardSettings, phase: GuardPhase, environment: GuardEnvironment): Guard {
  const { regex, webhook: service, moderationApi, guardrailsA: a, guardrailsC: c } = settings
  if (regex !== undefined) return regexGuard(regex, phase)
  if (service !== undefined) return webhook(service, environment)
  if (moderationApi !== undefined) return moderation(moderationApi, environment)
  if (a !== undefined) return guardrailsA(a, environment)
  if (c !== undefined) return guardrailsC(c, environment)
  throw new TypeError('a guard without a kind')
}

export async function runGuards(guards: readonly ChainedGuard[], texts: GuardedTexts): Promise<ChainResult> {
  let { spans } = texts
  if (spans.length > 0) {
    for (const { guard, rejection } of guards) {
      const verdict = await verdictOf(guard, { ...texts, spans })
      if (verdict.kind === 'failed') return verdict
      if (verdict.kind === 'reject') {
        const side = texts.phase.toLowerCase()
        const detail = `the prompt guard ${guard.name} rejected the ${side}${listOf(verdict.matched)}`
        return { kind: 'rejected', rejection: verdict.rejection ?? rejection, detail }
      }
      if (verdict.kind === 'mask') {
        spans = spans.map((span, index) => ({ ...span, text: verdict.texts[index] ?? span.text }))
      }
    }
  }
  return { kind: 'passed', texts: spans.map(({ text }) => text) }
}

/** The response in place of the request or of the answer of the provider. */
export function responseOf(exchange: Exchange, result: Exclude<ChainResult, { kind: 'passed' }>): HttpResponse {
  if (result.kind === 'failed') {
    return exchange.fail(isInTime(exchange) ? 'promptGuardFailed' : 'requestTimeout', result.detail)
  }
  const { status, body, headers = [] } = result.rejection
  // Without a content type (data-plane supplement section 3.6).
  const response = new HttpResponse(status, HeaderList.of(headers), body, true)
  exchange.reason = 'Guardrail'
  exchange.errorDetail = result.detail
  exchange.response = response
  return response
}

type Failed = Extract<ChainResult, { kind: 'failed' }>

async function verdictOf(guard: Guard, texts: GuardedTexts): Promise<GuardVerdict | Failed> {
  try {
    const verdict = await guard.check(texts)
    if (verdict.kind === 'mask' && verdict.texts.length !== texts.spans.length) {
      throw new ServiceError(`it returned ${verdict.texts.length} texts in place of ${texts.spans.length}`)
    }
    report(texts, guard, ACTIONS[verdict.kind], verdict.kind === 'pass' ? [] : verdict.matched)
    return verdict
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const detail = `the prompt guard ${guard.name} failed: ${error.message}`
    report(texts, guard, guard.failureMode, [])
    texts.exchange.trace?.note(detail)
    // No guard is skipped because the client waits no longer.
    if (guard.failureMode === 'FailClosed' || !isInTime(texts.exchange)) return { kind: 'failed', detail }
    texts.exchange.errorDetail ??= detail
    return { kind: 'pass' }
  }
}

const ACTIONS: { readonly [K in GuardVerdict['kind']]: GuardAction } = { pass: 'Allow', mask: 'Mask', reject: 'Reject' }

function report(
  { exchange, phase }: GuardedTexts,
  guard: Guard,
  action: GuardAction,
  matched: readonly string[],
): void {
  const checks = exchange.llm === undefined ? [] : (exchange.llm.guards ??= [])
  const known = checks.find((one) => one.phase === phase && one.guard === guard.name && one.action === action)
  if (known === undefined) checks.push({ phase, guard: guard.name, action, count: 1, matched: new Set(matched) })
  else {
    known.count++
    for (const name of matched) known.matched.add(name)
  }
  exchange.trace?.write({
    type: 'policyEvent',
    kind: 'promptGuard',
    details: `${guard.name} on the ${phase.toLowerCase()}: ${action}${listOf(matched)}`,
  })
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? '' : ` (${names.join(', ')})`
}
