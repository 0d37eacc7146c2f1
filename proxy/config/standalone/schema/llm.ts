// The `llm` section: models by name, their providers, and virtual models that select other models (resources supplement
// 4.7).
import * as z from 'zod'
import { SERVICE_NAMES, serviceId } from '#api/llm/services.ts'
import { absolutePath, azureType, custom, resourceName } from './backends.ts'
import { tls } from './listeners.ts'
import { evaluatedAt } from './moment.ts'
import { headerMatch } from './header-match.ts'
import { fields, isMap, notServed, oneShape, ONE_FIELD } from './object.ts'
import { gatewayPolicyShape, localRateLimit, promptCaching, rules } from './policies.ts'
import { remoteRateLimit } from './external.ts'
import { promptGuard } from './prompt-guard.ts'
import { health } from './resilience.ts'
import { backendAuth, backendTLS, backendTunnel, headerModifier } from './upstream.ts'
import { address, cel, cloudRegion, fileOrInline, mapOf, port, text } from './values.ts'

const MODELS_MAX = 1024
const PROVIDERS_MAX = 256
const TARGETS_MAX = 64
const PRIORITY_MAX = 1_000_000
const WEIGHT_MAX = 1_000_000
/** Those of a route (HTTPRoute of the Gateway API). */
const MATCHES_MAX = 64
const HEADERS_MAX = 16

/** Providers with code of their own; `openAI` is another spelling of `openai`. */
const BUILT_IN = ['openai', 'openAI', 'anthropic', 'gemini', 'vertex', 'bedrock', 'azure'] as const
/** The name in a file is that of the resource in lower case. */
export const SERVICES_IN_FILES: ReadonlyMap<string, (typeof SERVICE_NAMES)[number]> = new Map(
  SERVICE_NAMES.map((name) => [serviceId(name), name]),
)
const providerName = z.enum([...BUILT_IN, ...SERVICES_IN_FILES.keys()])
const reference = fields({ reference: text })
const customProvider = fields({ custom })
const provider = oneShape<string | z.output<typeof reference> | z.output<typeof customProvider>>(
  (value) => {
    if (!isMap(value)) return providerName
    return 'custom' in value ? customProvider : reference
  },
  [providerName, reference, customProvider],
)

const params = fields({
  model: text.optional(),
  apiKey: fileOrInline.optional(),
  awsRegion: cloudRegion.optional(),
  vertexRegion: cloudRegion.optional(),
  vertexProject: text.optional(),
  azureResourceName: resourceName.optional(),
  azureResourceType: azureType.optional(),
  azureApiVersion: text.optional(),
  azureProjectName: text.optional(),
  baseUrl: text.optional(),
  hostOverride: address.optional(),
  pathOverride: absolutePath.optional(),
  pathPrefix: absolutePath.optional(),
  tokenize: z.boolean().optional(),
})

const settingsShape = {
  defaults: mapOf(z.json()).optional(),
  overrides: mapOf(z.json()).optional(),
  transformation: evaluatedAt('model', mapOf(cel)).optional(),
  requestHeaders: headerModifier.optional(),
  responseHeaders: headerModifier.optional(),
  backendTLS: backendTLS.optional(),
  tls: backendTLS.optional(),
  auth: backendAuth.optional(),
  health: health.optional(),
  backendTunnel: backendTunnel.optional(),
  promptCaching: promptCaching.optional(),
}

/** `*` at the beginning or at the end, or alone. */
const pattern = z
  .string()
  .regex(/^(?:\*?[^*]+|[^*]+\*|\*)$/, { error: 'must have at most one *, at its beginning or end' })

const provided = fields({
  name: text,
  provider,
  params: params.optional(),
  defaults: evaluatedAt('backend', fields(settingsShape)).optional(),
})
const model = evaluatedAt(
  'backend',
  fields({
    name: pattern,
    id: text.optional(),
    visibility: z.enum(['public', 'internal']).optional(),
    provider,
    params: params.optional(),
    passthrough: z.enum(['detect', 'opaque']).optional(),
    authorization: evaluatedAt('model', rules).optional(),
    guardrails: promptGuard.optional(),
    ...settingsShape,
    ...notServed(['serverTools'], '; let clients call the tools of mcp'),
    matches: z
      .array(fields({ headers: z.array(headerMatch).min(1).max(HEADERS_MAX) }))
      .min(1)
      .max(MATCHES_MAX)
      .optional(),
  }),
)

const target = { model: text }
const targets = <T extends z.ZodType>(one: T) => z.array(one).min(1).max(TARGETS_MAX)
const weight = z.int().min(0).max(WEIGHT_MAX)
const routing = fields({
  weighted: fields({ targets: targets(fields({ ...target, weight: weight.optional() })) }).optional(),
  failover: fields({ targets: targets(fields({ ...target, priority: z.int().min(0).max(PRIORITY_MAX) })) }).optional(),
  conditional: fields({
    targets: targets(fields({ ...target, when: evaluatedAt('model', cel).optional() })),
  }).optional(),
})
  .refine((value) => Object.keys(value).length === 1, {
    error: 'must have exactly one of weighted, failover, conditional',
  })
  .meta(ONE_FIELD)
const virtualModel = fields({ name: pattern, routing })

/** Those of a gateway are evaluated before routing, also on a gateway that other routes share. */
const policies = evaluatedAt(
  'routing',
  fields({
    ...gatewayPolicyShape,
    localRateLimit: localRateLimit.optional(),
    remoteRateLimit: remoteRateLimit.optional(),
    guardrails: evaluatedAt('backend', promptGuard).optional(),
  }),
)

const gatewayNames = oneShape<string | string[]>(
  (value) => (Array.isArray(value) ? z.array(text).min(1) : text),
  [z.array(text).min(1), text],
)

export const llm = fields({
  port: port.optional(),
  tls: tls.optional(),
  gateways: gatewayNames.optional(),
  providers: z.array(provided).max(PROVIDERS_MAX).optional(),
  models: z.array(model).min(1).max(MODELS_MAX),
  virtualModels: z.array(virtualModel).max(MODELS_MAX).optional(),
  policies: policies.optional(),
})

export type LlmSection = z.output<typeof llm>
export type BuiltInName = (typeof BUILT_IN)[number]
export type ModelFields = z.output<typeof model>
export type ProvidedFields = z.output<typeof provided>
export type VirtualModelFields = z.output<typeof virtualModel>
export type ProviderValue = z.output<typeof provider>
export type ProviderParams = z.output<typeof params>
export type ModelSettings = NonNullable<ProvidedFields['defaults']>
