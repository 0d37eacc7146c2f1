// Guards of prompts, as fields of the contract. A webhook becomes a separate backend unless the file names one.
import { GUARD_REJECTION, TEMPLATE_LOCATION } from '#api/llm/guards.ts'
import type {
  GuardRejection,
  GuardService,
  GuardSettings,
  GuardWebhook,
  PromptGuard as RenderedGuard,
} from '#api/ir/types.gen.ts'
import { pathTo } from '../field-path.ts'
import type {
  GuardRejectionFields,
  PromptGuard,
  RegexGuard,
  RequestGuard,
  ResponseGuard,
  VendorPolicies,
  WebhookGuard,
} from '../schema/prompt-guard.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { expressions, headerValues } from './headers.ts'
import { serviceOf, simpleSide } from './simple-policies.ts'

const BUILTINS = {
  ssn: 'Ssn',
  creditCard: 'CreditCard',
  phoneNumber: 'PhoneNumber',
  email: 'Email',
  caSin: 'CaSin',
} as const

export function renderPromptGuard(
  { streaming, request, response }: PromptGuard,
  path: string,
  context: BuildContext,
): RenderedGuard {
  return defined({
    streaming: streaming === 'Enabled' ? true : undefined,
    request: request?.map((guard, index) => renderGuard(guard, pathTo(path, 'request', index), context)),
    response: response?.map((guard, index) => renderGuard(guard, pathTo(path, 'response', index), context)),
  })
}

function renderGuard(guard: RequestGuard | ResponseGuard, path: string, context: BuildContext): GuardSettings {
  const { regex, webhook, bedrockGuardrails, googleModelArmor, rejection } = guard
  const moderation = 'openAIModeration' in guard ? guard.openAIModeration : undefined
  const vendorAt = (name: string, policies: VendorPolicies | undefined): GuardService | undefined =>
    ifSet(policies, (value) => renderService(value, pathTo(path, name, 'policies'), context))
  return defined({
    rejection: renderRejection(rejection),
    regex: ifSet(regex, renderRegex),
    webhook: ifSet(webhook, (value) => renderWebhook(value, pathTo(path, 'webhook'), context)),
    moderationApi: ifSet(moderation, ({ model, policies }) =>
      defined({ model, policies: vendorAt('openAIModeration', policies) }),
    ),
    guardrailsA: ifSet(bedrockGuardrails, ({ guardrailIdentifier, guardrailVersion, region, policies }) => ({
      identifier: guardrailIdentifier,
      version: guardrailVersion,
      region,
      ...defined({ policies: vendorAt('bedrockGuardrails', policies) }),
    })),
    guardrailsC: ifSet(googleModelArmor, ({ templateId, projectId, location = TEMPLATE_LOCATION, policies }) => ({
      templateId,
      projectId,
      location,
      ...defined({ policies: vendorAt('googleModelArmor', policies) }),
    })),
  })
}

/** A response that the proxy makes has no fields that could be removed. */
function renderRejection({ status, body, headers }: GuardRejectionFields = {}): GuardRejection {
  const fields = { ...headers?.add, ...headers?.set }
  return {
    status: status ?? GUARD_REJECTION.status,
    body: body ?? GUARD_REJECTION.body,
    ...(Object.keys(fields).length > 0 && { headers: headerValues(fields) }),
  }
}

function renderRegex({ action, rules }: RegexGuard): NonNullable<GuardSettings['regex']> {
  const patterns = rules.flatMap(({ pattern }) => pattern ?? [])
  const builtins = rules.flatMap(({ builtin }) => (builtin === undefined ? [] : [BUILTINS[builtin]]))
  return {
    ...(patterns.length > 0 && { patterns }),
    ...(builtins.length > 0 && { builtins }),
    action: action === 'reject' ? 'Reject' : 'Mask',
  }
}

function renderWebhook(value: WebhookGuard, path: string, context: BuildContext): GuardWebhook {
  const { headers, forwardHeaderMatches, failureMode } = value
  return {
    service: serviceOf(value, path, context),
    failureMode: failureMode === 'failOpen' ? 'FailOpen' : 'FailClosed',
    ...defined({
      headers: ifSet(headers, expressions),
      forwardHeaderMatches: forwardHeaderMatches?.map(({ name, value: match }) => ({ name, value: defined(match) })),
    }),
  }
}

function renderService(policies: VendorPolicies, path: string, context: BuildContext): GuardService {
  const { deny, auth, tls, tcp, http, tunnel } = simpleSide(policies, path, context)
  return defined({ deny, auth, tls, tcp, http, tunnel })
}
