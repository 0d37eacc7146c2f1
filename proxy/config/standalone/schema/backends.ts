// Backends of a standalone file (resources supplement 4.6 and 4.12).
import * as z from 'zod'
import { AGENT_RUNTIME_FORM, regionOfAgentRuntime } from '#api/credentials/agent-runtime.ts'
import { FORMATS_IN_FILES } from '#api/llm/formats.ts'
import { PROVIDER_NAMES, type ProviderName, PROVIDERS } from '#api/llm/providers.ts'
import { serviceReference } from './discovery.ts'
import { fields, isMap, notServed, oneShape, ONE_FIELD } from './object.ts'
import { backendPolicies } from './policies.ts'
import { address, cloudRegion, fileOrInline, mapOf, name, port, text } from './values.ts'

const TARGET_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

const modelChoice = fields({ model: text.optional() })
export const custom = fields({
  model: text.optional(),
  formats: z.array(fields({ type: z.enum(FORMATS_IN_FILES), path: text.optional() })).min(1),
  ...notServed(['providerOverride'], '; remove it'),
})
const vertex = fields({
  model: text.optional(),
  projectId: text,
  region: cloudRegion.optional(),
})
const bedrock = fields({
  model: text.optional(),
  region: cloudRegion,
  guardrailIdentifier: text.optional(),
  guardrailVersion: text.optional(),
  ...notServed(['requestMetadata'], '; set the header x-bedrock-metadata by transformations'),
}).refine(
  ({ guardrailIdentifier, guardrailVersion }) =>
    (guardrailIdentifier === undefined) === (guardrailVersion === undefined),
  { error: 'must have guardrailIdentifier and guardrailVersion together' },
)
/** Resource names of Azure, which are the first part of host names. */
export const resourceName = z
  .string()
  .regex(/^[A-Za-z0-9](?:[-A-Za-z0-9]{0,62}[A-Za-z0-9])?$/, { error: 'must be 1 to 64 letters, digits and -' })
export const azureType = z.enum(['openAI', 'foundry'])
const azure = fields({
  model: text.optional(),
  resourceName,
  resourceType: azureType,
  apiVersion: text.optional(),
  projectName: text.optional(),
})
const fieldsOf = (names: readonly ProviderName[]) => [...new Set(names.map((one) => PROVIDERS[one].standaloneField))]
const served = {
  openAI: modelChoice.optional(),
  azure: azure.optional(),
  anthropic: modelChoice.optional(),
  gemini: modelChoice.optional(),
  vertex: vertex.optional(),
  bedrock: bedrock.optional(),
  custom: custom.optional(),
} satisfies { readonly [N in ProviderName as (typeof PROVIDERS)[N]['standaloneField']]: z.ZodType }
const provider = fields({
  ...notServed(['copilot'], '; use a provider with a key'),
  ...served,
})
  .refine((value) => Object.keys(value).length === 1, {
    error: `must have exactly one of ${fieldsOf(PROVIDER_NAMES).join(', ')}`,
  })
  .meta(ONE_FIELD)

export const absolutePath = z.string().regex(/^\//, { error: 'must begin with /' })

const namedProvider = fields({
  name: text,
  provider,
  hostOverride: address.optional(),
  pathOverride: absolutePath.optional(),
  pathPrefix: absolutePath.optional(),
  tokenize: z.boolean().optional(),
  policies: backendPolicies.optional(),
})
const providerGroups = fields({ groups: z.array(fields({ providers: z.array(namedProvider).min(1) })).min(1) })
export const aiBackend = oneShape<z.output<typeof namedProvider> | z.output<typeof providerGroups>>(
  (value) => (isMap(value) && 'groups' in value ? providerGroups : namedProvider),
  [providerGroups, namedProvider],
)

const remoteShape = {
  host: text.optional(),
  port: port.optional(),
  path: text.optional(),
  backend: text.optional(),
}
const remoteServer = fields(remoteShape)
const stdio = fields({
  cmd: text,
  args: z.array(z.string()).optional(),
  env: mapOf(z.string()).optional(),
  clear_env: z.boolean().optional(),
})
const mcpTarget = fields({
  name: z.string().regex(TARGET_NAME, {
    error: 'must be lower-case letters, digits, - and ., at most 253, and begin and end with a letter or digit',
  }),
  policies: backendPolicies.optional(),
  mcp: remoteServer.optional(),
  sse: remoteServer.optional(),
  stdio: stdio.optional(),
  openapi: fields({ schema: fileOrInline, ...remoteShape }).optional(),
})
const toolPin = fields({
  target: text,
  name: text,
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, { error: 'must be sha256: and 64 hexadecimal digits' }),
})
const toolPinning = fields({
  mode: z.enum(['report', 'refuse']).optional(),
  tools: z.array(toolPin).max(1024).optional(),
})
export const mcpShape = {
  targets: z.array(mcpTarget).min(1).max(32),
  statefulMode: z.enum(['stateful', 'stateless']).optional(),
  prefixMode: z.enum(['conditional', 'always', 'never']).optional(),
  failureMode: z.enum(['failClosed', 'failOpen']).optional(),
  toolPinning: toolPinning.optional(),
}
const mcpBackend = fields(mcpShape)

const aws = fields({
  agentCore: fields({
    agentRuntimeArn: text.refine((ref) => regionOfAgentRuntime(ref) !== undefined, { error: AGENT_RUNTIME_FORM }),
    qualifier: text.optional(),
  }),
})

/** Connects to the request's host, or to the server name of TLS. */
const dynamic = fields({})

const INTERNAL = '; use routeGroup, or frontendPolicies.connect and a bind with mode: internal'
export const routeBackend = fields({
  weight: z.int().min(0).max(1_000_000).optional(),
  policies: backendPolicies.optional(),
  host: address.optional(),
  backend: text.optional(),
  mcp: mcpBackend.optional(),
  ai: aiBackend.optional(),
  dynamic: dynamic.optional(),
  aws: aws.optional(),
  routeGroup: text.optional(),
  service: serviceReference.optional(),
  /** An older form of `host`. */
  http: fields({ hostname: text, port }).optional(),
  invalid: z.unknown().optional(),
  ...notServed(['internal'], INTERNAL),
})

export const namedBackend = fields({
  name,
  policies: backendPolicies.optional(),
  host: address.optional(),
  mcp: mcpBackend.optional(),
  ai: aiBackend.optional(),
  dynamic: dynamic.optional(),
  aws: aws.optional(),
  ...notServed(['internal'], INTERNAL),
})

export type AwsFields = z.output<typeof aws>
export type RouteBackendFields = z.output<typeof routeBackend>
export type NamedBackendFields = z.output<typeof namedBackend>
export type McpBackendFields = z.output<typeof mcpBackend>
export type McpTargetFields = z.output<typeof mcpTarget>
export type AiBackendFields = z.output<typeof aiBackend>
export type NamedProviderFields = z.output<typeof namedProvider>
export type ProviderFields = z.output<typeof provider>
