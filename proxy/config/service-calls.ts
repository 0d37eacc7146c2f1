// Services that policies call, as the compiler of a worker finds them: the environment of chains.
import type { BackendReference, GuardService } from '#api/ir/types.gen.ts'
import type { EndpointPicker, FilteredPlace } from '../backend/handler.ts'
import { compileHealth } from '../backend/health.ts'
import { serviceCaller } from '../backend/service-caller.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import type { ChainEnvironment } from '../chain/environment.ts'
import type { CompiledChain } from '../chain/filter.ts'
import type { ServiceCaller } from '../chain/service.ts'
import { WorkerTokenStore } from '../credentials/token-store.ts'
import type { CallSubtype } from '../exchange/request-span.ts'
import type { HealthRule } from '../exchange/slots.ts'
import { isHostName } from '../message/authority.ts'
import { forServiceCall } from '../policy/fields.ts'
import { effectiveService } from '../policy/merge-backend.ts'
import { compileBackendChain } from '../policy/order.ts'
import { backendHost } from './backend-host.ts'
import type { CompileContext } from './context.ts'
import { originCaller } from './origin-caller.ts'

const VENDOR_PORT = 443

export function chainEnvironment(context: CompileContext): ChainEnvironment {
  const { expression, environment, secret, auth } = context
  const { rateLimits, tokens = new WorkerTokenStore() } = environment
  return {
    expression,
    rateLimits,
    secret,
    auth,
    tokens,
    service: (ref, subtype) => serviceOf(ref, context, { subtype }),
    origin: (place) => originCaller(place, environment),
    mcpSignIn: { redirectUris: environment.mcpAccess?.redirectUris, sealKeys: environment.sessionKeys },
  }
}

export function filtersOf(policies: EffectiveBackend, place: FilteredPlace, context: CompileContext): CompiledChain {
  return compileBackendChain(policies, { ...chainEnvironment(context), backendHost: backendHost(place, context) })
}

/** Callers share the health of endpoints with all other users of the service. */
export function serviceOf(
  ref: BackendReference,
  context: CompileContext,
  options: Omit<CallOptions, 'place'>,
): ServiceCaller | undefined {
  const backend = ref.backend === undefined ? undefined : context.resolver.backend(ref.backend)
  if (ref.invalid !== undefined || backend?.invalid !== undefined) return undefined
  const own = forServiceCall(effectiveService(context.policies, { service: ref.service, backend }))
  const policies = options.subtype === 'Oidc' ? withoutExchange(own) : own
  const picker = context.resolver.resolve(ref, policies)
  if (picker === undefined) return undefined
  return callerOf(picker, policies, { ...options, place: { ref } }, context)
}

/** A server of a backend: `policies` are those of its section. */
export function serverOf(
  ref: BackendReference,
  policies: EffectiveBackend,
  options: Omit<CallOptions, 'place'>,
  context: CompileContext,
): ServiceCaller | undefined {
  const picker = context.resolver.resolve(ref, policies)
  return picker && callerOf(picker, policies, { ...options, place: { ref } }, context)
}

/** The service of a vendor, whose address and policies are settings of a guard. */
export function vendorOf(host: string, settings: GuardService, context: CompileContext): ServiceCaller | undefined {
  if (!isHostName(host)) return undefined
  const policies: EffectiveBackend = { ...settings, tls: settings.tls ?? {}, mcpAuthorization: [] }
  const picker = context.resolver.address(`guard/${host}`, { host, port: VENDOR_PORT }, policies)
  return callerOf(picker, policies, { place: { host }, subtype: 'Guardrail' }, context)
}

interface CallOptions {
  readonly place: FilteredPlace
  readonly subtype?: CallSubtype
  readonly timeoutMs?: number
}

function callerOf(
  picker: EndpointPicker,
  policies: EffectiveBackend,
  { place, subtype, timeoutMs }: CallOptions,
  context: CompileContext,
): ServiceCaller {
  const { client, grpc, observer } = context.environment
  return serviceCaller({
    picker,
    filters: filtersOf(policies, place, context).request,
    health: healthOf(policies, context),
    client,
    grpc,
    timeoutMs: policies.http?.requestTimeoutMs ?? timeoutMs,
    subtype,
    called: (called, durationMs) => observer.called?.({ kind: 'Policy', subtype: called, durationMs }),
  })
}

/** A token endpoint that needs a token of a token endpoint: refused, because the two could be the same. */
function withoutExchange({ auth, ...policies }: EffectiveBackend): EffectiveBackend {
  const isExchanged = auth?.crossAppAccess !== undefined || auth?.oauthTokenExchange !== undefined
  if (!isExchanged) return auth === undefined ? policies : { ...policies, auth }
  const message = 'a token endpoint cannot require a token of a token endpoint'
  return { ...policies, deny: { field: 'backend.auth', message } }
}

export function healthOf({ health }: EffectiveBackend, { expression }: CompileContext): HealthRule | undefined {
  return health === undefined ? undefined : compileHealth(health, expression)
}
