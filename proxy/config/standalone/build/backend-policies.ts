// Policies of backends, as backend fields of the contract. Credentials are stored in the secrets, never in the payload.
import type { AIPolicy, Authorization, BackendPayload } from '#api/ir/types.gen.ts'
import { ROUTE_TYPES } from '#api/llm/formats.ts'
import type { BACKEND, Built, WrittenIn } from '../coverage.ts'
import { pathTo } from '../field-path.ts'
import type { AI, BackendPolicies, RoutePolicies } from '../schema/policies.ts'
import type { BuildContext } from './context.ts'
import { defined, ifSet } from './defined.ts'
import { renderExtAuth, renderInferenceRouting } from './external.ts'
import { renderMcpGuardrails } from './mcp-guardrails.ts'
import { expressions, renderModifier, renderRedirect, renderTransformation } from './headers.ts'
import { renderPromptGuard } from './prompt-guard.ts'
import { renderHealth } from './resilience.ts'
import { renderRules } from './rules.ts'
import { renderAuth, renderHttp, renderTcp, renderTls, renderTunnel } from './simple-policies.ts'

export interface BackendSide {
  /** Without mcpAuthorization, which may have several rules. */
  readonly payload: BackendPayload
  readonly mcpRules: readonly Authorization[]
}

/** Rules are built separately: there may be several. */
type BackendFields = Built<BackendPayload, Exclude<WrittenIn<typeof BACKEND>, 'mcpAuthorization'>>

/** For backends that are not services. */
export function backendSide(policies: BackendPolicies, path: string, context: BuildContext): BackendSide {
  if (policies.inferenceRouting !== undefined) {
    context.error(pathTo(path, 'inferenceRouting'), 'has an effect only on a backend with a service')
  }
  return serviceSide(policies, path, context)
}

export function serviceSide(policies: BackendPolicies, path: string, context: BuildContext): BackendSide {
  const { transformations, requestRedirect, http, tcp, extAuthz, health } = policies
  const shared = sharedSide(policies, path, context)
  const rules = renderRules(policies.authorization, pathTo(path, 'authorization'), context)
  const request = policies.requestHeaderModifier
  const response = policies.responseHeaderModifier
  return {
    payload: defined({
      ...shared.payload,
      authorization: rules.length === 0 ? undefined : rules,
      http: renderHttp(http),
      tcp: renderTcp(tcp),
      health: ifSet(health, renderHealth),
      extAuth: extAuthz && renderExtAuth(extAuthz, pathTo(path, 'extAuthz'), context),
      transformation: transformations && renderTransformation(transformations),
      requestHeaderModifier: request && renderModifier(request),
      responseHeaderModifier: response && renderModifier(response),
      requestRedirect: requestRedirect && renderRedirect(requestRedirect, pathTo(path, 'requestRedirect'), context),
      inferenceRouting: ifSet(policies.inferenceRouting, (value) =>
        renderInferenceRouting(value, pathTo(path, 'inferenceRouting'), context),
      ),
    } satisfies BackendFields),
    mcpRules: shared.mcpRules,
  }
}

/** The policies that routes may set for their backends. */
export function routeBackendSide(policies: RoutePolicies, path: string, context: BuildContext): BackendSide {
  const { payload, mcpRules } = sharedSide(policies, path, context)
  const { authorization } = policies.mcpAuthentication ?? {}
  const at = pathTo(path, 'mcpAuthentication', 'authorization')
  return { payload: defined(payload), mcpRules: [...mcpRules, ...renderRules(authorization, at, context)] }
}

/** For backends that are not MCP servers. */
export function refuseMcpPolicies({ payload, mcpRules }: BackendSide, path: string, context: BuildContext): void {
  const message = 'has an effect only on an mcp backend'
  if (mcpRules.length > 0) context.error(pathTo(path, 'mcpAuthorization'), message)
  if (payload.mcpGuardrails !== undefined) context.error(pathTo(path, 'mcpGuardrails'), message)
}

type Shared = Pick<
  BackendPolicies,
  'ai' | 'backendTLS' | 'backendAuth' | 'backendTunnel' | 'mcpAuthorization' | 'mcpGuardrails'
>

function sharedSide(
  { ai, backendTLS, backendAuth, backendTunnel, mcpAuthorization, mcpGuardrails }: Shared,
  path: string,
  context: BuildContext,
) {
  const tls = ifSet(backendTLS, (value) => renderTls(value, pathTo(path, 'backendTLS'), context))
  const auth = ifSet(backendAuth, (value) => renderAuth(value, pathTo(path, 'backendAuth'), context))
  const payload: Built<BackendPayload, 'deny' | 'ai' | 'tls' | 'auth' | 'tunnel' | 'mcpGuardrails'> = {
    deny: auth?.deny,
    ai: ifSet(ai, (value) => renderAi(value, pathTo(path, 'ai'), context)),
    tls,
    auth: auth?.auth,
    tunnel: ifSet(backendTunnel, (value) => renderTunnel(value, pathTo(path, 'backendTunnel'), context)),
    mcpGuardrails: ifSet(mcpGuardrails, (value) => renderMcpGuardrails(value, pathTo(path, 'mcpGuardrails'), context)),
  }
  return { payload, mcpRules: renderRules(mcpAuthorization, pathTo(path, 'mcpAuthorization'), context) }
}

function renderAi(value: AI, path: string, context: BuildContext): AIPolicy {
  const { prompts, promptGuard, promptCaching, modelAliases, routes } = value
  return defined({
    ...aiEdits(value),
    prompt: prompts && defined(prompts),
    promptGuard: ifSet(promptGuard, (guard) => renderPromptGuard(guard, pathTo(path, 'promptGuard'), context)),
    promptCaching: promptCaching && defined(promptCaching),
    modelAliases,
    routes: routes && Object.fromEntries(Object.entries(routes).map(([path, type]) => [path, ROUTE_TYPES[type]])),
  })
}

/** Edits of the body of a request. */
export function aiEdits({
  defaults,
  overrides,
  transformations,
}: Pick<AI, 'defaults' | 'overrides' | 'transformations'>) {
  return defined({
    defaults: defaults && jsonFields(defaults),
    overrides: overrides && jsonFields(overrides),
    transformations: transformations && expressions(transformations),
  })
}

type Json = NonNullable<AIPolicy['defaults']>[number]['value']

function jsonFields(map: Readonly<Record<string, Json>>): { field: string; value: Json }[] {
  return Object.entries(map).map(([field, value]) => ({ field, value }))
}
