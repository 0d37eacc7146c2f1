// backend.ai.promptGuard: guards of the texts of requests and responses. A webhook that does not exist stays as an
// unreachable target, whose failure mode decides; every other guard that is broken rejects.
import type { GuardRejection, GuardSettings, PromptGuard } from '#api/ir/types.gen.ts'
import { GUARD_REJECTION, TEMPLATE_LOCATION } from '#api/llm/guards.ts'
import { isHostLabel } from '#api/net/host-label.ts'
import type { FieldPath } from '#api/problem.ts'
import type {
  AIPromptGuard,
  CustomResponse,
  GuardrailsA,
  GuardrailsC,
  ModerationAPI,
  PromptguardRequest,
  PromptguardResponse,
  Regex,
  Webhook,
  WebhookHeaderMatch,
} from '#api/v1alpha1/shared.gen.ts'
import { regexFaultOf } from '../regex-fault.ts'
import { type FieldContext, reportError } from './field.ts'
import { guardService } from './guard-service.ts'
import { namedExpressions } from './named-expressions.ts'
import { serviceReference } from './service-reference.ts'

type Kinds = Omit<PromptguardRequest, 'response'>
type Renderers = {
  readonly [K in keyof Kinds]-?: (
    value: NonNullable<Kinds[K]>,
    path: FieldPath,
    context: FieldContext,
  ) => NonNullable<GuardSettings[K]>
}

const KINDS: Renderers = {
  regex: renderRegex,
  webhook: renderWebhook,
  moderationApi: renderModeration,
  guardrailsA: renderGuardrailsA,
  guardrailsC: renderGuardrailsC,
}

/** @throws {TypeError} for what the schema rejects; the section answers with a denial. */
export function renderPromptGuard(
  { streaming, request, response }: AIPromptGuard,
  path: FieldPath,
  context: FieldContext,
): PromptGuard {
  if (request === undefined && response === undefined) throw new TypeError('neither request nor response')
  return {
    ...(streaming === 'Enabled' && { streaming: true }),
    ...(request && { request: request.map((guard, i) => renderGuard(guard, `${path}.request[${i}]`, context)) }),
    ...(response && { response: response.map((guard, i) => renderGuard(guard, `${path}.response[${i}]`, context)) }),
  }
}

function renderGuard(
  { response, ...guard }: PromptguardRequest | PromptguardResponse,
  path: FieldPath,
  context: FieldContext,
): GuardSettings {
  const kinds = Object.entries(guard).flatMap(([kind, value]) => {
    if (value === undefined || !Object.hasOwn(KINDS, kind)) return []
    // The type of the table connects each kind with its value, which the entries of an object do not.
    const render = KINDS[kind as keyof Kinds] as (...args: [unknown, FieldPath, FieldContext]) => unknown
    return [[kind, render(value, `${path}.${kind}`, context)] as const]
  })
  if (kinds.length !== 1) throw new TypeError('not exactly one kind of guard')
  return { rejection: rejectionOf(response), ...Object.fromEntries(kinds) }
}

function rejectionOf({ statusCode, message }: CustomResponse = {}): GuardRejection {
  return { status: statusCode ?? GUARD_REJECTION.status, body: message ?? GUARD_REJECTION.body }
}

function renderRegex(
  { matches, builtins, action = 'Mask' }: Regex,
  path: FieldPath,
  context: FieldContext,
): NonNullable<GuardSettings['regex']> {
  for (const [index, pattern] of (matches ?? []).entries()) checkPattern(pattern, `${path}.matches[${index}]`, context)
  return {
    ...(matches !== undefined && { patterns: [...matches] }),
    ...(builtins !== undefined && { builtins: [...builtins] }),
    action,
  }
}

/** An invalid one is delivered: the guard then fails, and rejects. */
function checkPattern(pattern: string, path: FieldPath, context: FieldContext): void {
  for (const { reason, message } of regexFaultOf(pattern, path)) {
    reportError(context, { path, reason, message: `${context.field}: ${message}` })
  }
}

function renderWebhook(
  { backendRef, headers, forwardHeaderMatches, failureMode = 'FailClosed' }: Webhook,
  path: FieldPath,
  context: FieldContext,
): NonNullable<GuardSettings['webhook']> {
  return {
    service: serviceReference(backendRef, `${path}.backendRef`, context),
    failureMode,
    ...(headers !== undefined && {
      headers: namedExpressions(headers, `${path}.headers`, { ...context, moment: 'model' }),
    }),
    ...(forwardHeaderMatches !== undefined && {
      forwardHeaderMatches: forwardHeaderMatches.map((match, index) =>
        renderMatch(match, `${path}.forwardHeaderMatches[${index}].value`, context),
      ),
    }),
  }
}

/** An invalid expression is delivered: it matches nothing. */
function renderMatch({ name, type = 'Exact', value }: WebhookHeaderMatch, path: FieldPath, context: FieldContext) {
  if (type === 'RegularExpression') checkPattern(value, path, context)
  return { name: name.toLowerCase(), value: type === 'Exact' ? { exact: value } : { regex: value } }
}

function renderModeration(
  { model, policies }: ModerationAPI,
  path: FieldPath,
  context: FieldContext,
): NonNullable<GuardSettings['moderationApi']> {
  return { ...(model !== undefined && { model }), ...guardService(policies, path, context) }
}

function renderGuardrailsA(
  { identifier, version, region, policies }: GuardrailsA,
  path: FieldPath,
  context: FieldContext,
): NonNullable<GuardSettings['guardrailsA']> {
  checkLabel(region, `${path}.region`, context)
  return { identifier, version, region, ...guardService(policies, path, context) }
}

function renderGuardrailsC(
  { templateId, projectId, location = TEMPLATE_LOCATION, policies }: GuardrailsC,
  path: FieldPath,
  context: FieldContext,
): NonNullable<GuardSettings['guardrailsC']> {
  checkLabel(location, `${path}.location`, context)
  return { templateId, projectId, location, ...guardService(policies, path, context) }
}

/**
 * A region or a location is a part of the host name of the service. An invalid one is delivered: the service then does
 * not exist, and the guard rejects.
 */
function checkLabel(label: string, path: FieldPath, context: FieldContext): void {
  if (isHostLabel(label)) return
  const message = `${context.field}: not a region: use lower-case letters, digits and -`
  reportError(context, { path, reason: 'UnsupportedValue', message })
}
