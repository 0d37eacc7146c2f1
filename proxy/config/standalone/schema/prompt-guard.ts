// Guards of prompts in a standalone file (resources supplement 4.10): which texts of requests and responses are masked
// or rejected.
import * as z from 'zod'
import { serviceShape } from './external.ts'
import { evaluatedAt } from './moment.ts'
import { fields, notServed, ONE_FIELD } from './object.ts'
import { backendAuth, backendTLS, backendTunnel, headerModifier, http, tcp } from './upstream.ts'
import { cel, cloudRegion, headerName, regex, stringMatch, text } from './values.ts'

const GUARDS_MAX = 8
const CALL_PART = /^(?::(?:path|method|authority)|[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256})$/

const regexRule = fields({
  builtin: z.enum(['ssn', 'creditCard', 'phoneNumber', 'email', 'caSin']).optional(),
  pattern: regex.optional(),
})
  .refine((value) => Object.keys(value).length === 1, { error: 'must have exactly one of builtin, pattern' })
  .meta(ONE_FIELD)
const regexGuard = fields({ action: z.enum(['mask', 'reject']).optional(), rules: z.array(regexRule).min(1) })

const callPart = z
  .string()
  .regex(CALL_PART, { error: 'must be a header name, :path, :method or :authority' })
  .transform((name) => name.toLowerCase())
const webhook = fields({
  ...serviceShape,
  headers: evaluatedAt('model', z.record(callPart, cel)).optional(),
  forwardHeaderMatches: z.array(fields({ name: headerName, value: stringMatch })).optional(),
  failureMode: z.enum(['failClosed', 'failOpen']).optional(),
  ...notServed(['path'], '; set :path in headers'),
  ...notServed(['messageFormat', 'minSizeBytes'], ': the service gets the texts of the messages'),
})

/** Of the service of a vendor, at its own address. */
const vendorPolicies = evaluatedAt(
  'model',
  fields({
    backendAuth: backendAuth.optional(),
    backendTLS: backendTLS.optional(),
    backendTunnel: backendTunnel.optional(),
    http: http.optional(),
    tcp: tcp.optional(),
  }),
)
const moderation = fields({ model: text.optional(), policies: vendorPolicies.optional() })
const bedrockGuardrails = fields({
  guardrailIdentifier: text,
  guardrailVersion: text,
  region: cloudRegion,
  policies: vendorPolicies.optional(),
})
const modelArmor = fields({
  templateId: text,
  projectId: text,
  location: cloudRegion.optional(),
  policies: vendorPolicies.optional(),
})

const rejection = fields({
  status: z.int().min(200).max(599).optional(),
  body: z.string().optional(),
  headers: headerModifier.optional(),
})

const responseShape = {
  regex: regexGuard.optional(),
  webhook: webhook.optional(),
  bedrockGuardrails: bedrockGuardrails.optional(),
  googleModelArmor: modelArmor.optional(),
}
const requestShape = { ...responseShape, openAIModeration: moderation.optional() }

const requestGuard = oneGuard({ ...requestShape, rejection: rejection.optional() }, Object.keys(requestShape))
const responseGuard = oneGuard({ ...responseShape, rejection: rejection.optional() }, Object.keys(responseShape))

function oneGuard<T extends z.core.$ZodLooseShape>(shape: T, kinds: readonly string[]) {
  const other = ['promptInjection', 'azureContentSafety'] as const
  const isOne = (value: object): boolean =>
    [...kinds, ...other].filter((kind) => Object.hasOwn(value, kind)).length === 1
  return fields({ ...shape, ...notServed(other, '; use regex, or a service as webhook') }).refine(isOne, {
    error: `must have exactly one of ${kinds.join(', ')}`,
  })
}

export const promptGuard = fields({
  streaming: z.enum(['Disabled', 'Enabled']).optional(),
  request: z.array(requestGuard).min(1).max(GUARDS_MAX).optional(),
  response: z.array(responseGuard).min(1).max(GUARDS_MAX).optional(),
}).refine((value) => value.request !== undefined || value.response !== undefined, {
  error: 'must have at least one of request, response',
})

export type PromptGuard = z.output<typeof promptGuard>
export type RequestGuard = z.output<typeof requestGuard>
export type ResponseGuard = z.output<typeof responseGuard>
export type RegexGuard = z.output<typeof regexGuard>
export type WebhookGuard = z.output<typeof webhook>
export type GuardRejectionFields = z.output<typeof rejection>
export type VendorPolicies = z.output<typeof vendorPolicies>
