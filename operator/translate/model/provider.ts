// Which provider a GwModel names, in the terms of a GwBackend, so that both are rendered by the same code.
import { PROVIDER_NAMES, type ProviderName, PROVIDERS } from '#api/llm/providers.ts'
import { isService, type Service, serviceId, SERVICES } from '#api/llm/services.ts'
import type { NamedLLMProvider } from '#api/v1alpha1/gwbackend.gen.ts'
import type { GwModelSpec } from '#api/v1alpha1/gwmodel.gen.ts'
import { parseBaseUrl } from './base-url.ts'

export interface ChosenProvider {
  readonly provider: NamedLLMProvider
  /** The proxy uses TLS for the address, unless policies set it. */
  readonly isTls: boolean
  /** Name in telemetry of a service without code of its own. */
  readonly service: string | undefined
}

export interface ProviderFault {
  readonly path: string
  readonly message: string
}

const TLS_PORT = 443

/** `model`: replaces the model of the request. */
export function chooseProvider(
  spec: GwModelSpec,
  name: string,
  model: string | undefined,
): ChosenProvider | { readonly fault: ProviderFault } {
  const target = targetOf(spec, model)
  if ('fault' in target) return target
  const service = spec.provider !== undefined && isService(spec.provider) ? serviceId(spec.provider) : undefined
  if (spec.baseURL === undefined) return { provider: { name, ...target.fields }, isTls: target.isTls, service }
  const url = parseBaseUrl(spec.baseURL)
  if ('message' in url) return { fault: { path: 'spec.baseURL', message: url.message } }
  const { host, port, isTls, pathPrefix = target.basePath } = url
  return {
    provider: { name, ...target.fields, host, port, ...(pathPrefix !== undefined && { pathPrefix }) },
    isTls,
    service,
  }
}

interface Target {
  readonly fields: Omit<NamedLLMProvider, 'name'>
  readonly isTls: boolean
  /** Beginning of the path when `baseURL` has none. */
  readonly basePath: string | undefined
}

type Fault = { readonly fault: ProviderFault }

function targetOf(spec: GwModelSpec, model: string | undefined): Target | Fault {
  const { provider } = spec
  if (provider !== undefined && isService(provider)) return serviceTarget(SERVICES[provider], spec, model)
  const name = PROVIDER_NAMES.find((one) => PROVIDERS[one].modelProvider === provider)
  return provider === undefined || name === undefined ? lacksSettings(spec) : builtInTarget(name, spec, model)
}

function builtInTarget(name: ProviderName, spec: GwModelSpec, model: string | undefined): Target | Fault {
  const { slot, modelSettings, modelField, basePath } = PROVIDERS[name]
  const settings = modelSettings === undefined ? {} : spec[modelSettings]
  if (settings === undefined) return lacksSettings(spec)
  const fields = { [slot]: { ...settings, ...(model !== undefined && { [modelField]: model }) } }
  return { fields, isTls: false, basePath }
}

function serviceTarget(service: Service, spec: GwModelSpec, model: string | undefined): Target | Fault {
  const { host, pathPrefix, formats } = service
  // Without an address of its own, `baseURL` is the address.
  if (host === undefined && spec.baseURL === undefined) return lacksSettings(spec)
  const custom = { ...(model !== undefined && { model }), formats: formats.map((format) => ({ ...format })) }
  const address = host === undefined ? {} : { host, port: TLS_PORT }
  return { fields: { custom, ...address, pathPrefix }, isTls: true, basePath: pathPrefix }
}

function lacksSettings({ provider }: GwModelSpec): Fault {
  const message = `provider ${provider ?? '(none)'} has no settings; see the reference of GwModel`
  return { fault: { path: 'spec.provider', message } }
}
