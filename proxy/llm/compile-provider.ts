// A provider of an LLM backend, compiled: its address, credential, policies and guards.
import type { AIProvider } from '#api/ir/types.gen.ts'
import { signedFor } from '../backend/auth/signing-scope.ts'
import type { BackendEnvironment, EndpointPicker, FilteredPlace } from '../backend/handler.ts'
import { PROVIDER_PORT, rerankHost } from '../backend/provider-address.ts'
import type { EffectiveBackend } from '../chain/effective.ts'
import { DerivedByKey } from '../message/derived-headers.ts'
import type { CompiledProvider } from './call.ts'
import { credentialKind } from './credential-kind.ts'
import { compileEdits } from './edits.ts'
import { compileGuards } from './guards/chain.ts'
import { providerProfile } from './providers/table.ts'

/** undefined: the provider cannot be called by this version, or has no address. */
export function compileProvider(settings: AIProvider, environment: BackendEnvironment): CompiledProvider | undefined {
  const profile = providerProfile(settings)
  if (profile === undefined) return undefined
  const { backendRef, inlinePolicies } = settings
  // If a provider uses an InferencePool, its picker is called as well.
  const { inferenceRouting } = backendRef === undefined ? {} : environment.policiesOf(backendRef)
  const own = environment.sectionPolicies(settings.name, inlinePolicies)
  const chosen = own.auth ?? profile.defaultAuth
  const auth = chosen && signedFor({ region: profile.signingRegion }, chosen)
  const policies: EffectiveBackend = {
    ...(inferenceRouting !== undefined && { inferenceRouting }),
    ...own,
    ...(auth !== undefined && { auth }),
  }
  const picker = addressOf(settings, profile.defaultHost, policies, environment)
  if (picker === undefined) return undefined
  return {
    settings,
    profile,
    policies,
    picker,
    rerankPicker: rerankPickerOf(settings, policies, environment),
    textReads: environment.textReads,
    credential: credentialKind(policies.auth),
    requestHeaders: new DerivedByKey(),
    answerHeaders: new DerivedByKey(),
    health: environment.health(policies),
    guards: policies.ai?.promptGuard && compileGuards(policies.ai.promptGuard, environment),
    edits: compileEdits(policies.ai ?? {}, (source) => environment.expression(source)),
    ...environment.filters(policies, placeOf(settings, profile.defaultHost)),
  }
}

/** The same choice as for the address. */
function placeOf({ hostOverride, backendRef }: AIProvider, defaultHost: string | undefined): FilteredPlace {
  if (hostOverride !== undefined) return { host: hostOverride.host }
  return backendRef === undefined ? { host: defaultHost } : { ref: backendRef }
}

function rerankPickerOf(
  settings: AIProvider,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
): EndpointPicker | undefined {
  const host = rerankHost(settings)
  return host === undefined ? undefined : ownAddress(settings.name, host, policies, environment)
}

/** The provider's own host is called with TLS and system trust; an override implies none. */
function addressOf(
  settings: AIProvider,
  defaultHost: string | undefined,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
): EndpointPicker | undefined {
  const { hostOverride, backendRef } = settings
  const section = settings.name
  if (hostOverride !== undefined) return environment.resolveAddress({ section, ...hostOverride }, policies)
  if (backendRef !== undefined) return environment.resolve(backendRef, policies)
  if (defaultHost === undefined) return undefined
  return ownAddress(section, defaultHost, policies, environment)
}

function ownAddress(
  section: string,
  host: string,
  policies: EffectiveBackend,
  environment: BackendEnvironment,
): EndpointPicker {
  const address = { section, host, port: PROVIDER_PORT }
  return environment.resolveAddress(address, { ...policies, tls: policies.tls ?? {} })
}
