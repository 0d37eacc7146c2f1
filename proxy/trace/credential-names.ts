// Where the configuration says that credentials travel: names of header fields and query parameters, for redaction.
import type { BackendPayload, RenderedConfig, TrafficPayload } from '#api/ir/types.gen.ts'
import { isSensitiveHeader } from '../log/redact.ts'

/** Query parameters that carry credentials wherever they appear. Lower case. */
const SENSITIVE_PARAMETERS = [
  'access_token',
  'api-key',
  'api_key',
  'apikey',
  'client_secret',
  'id_token',
  'key',
  'password',
  'refresh_token',
  'sig',
  'signature',
  'token',
  'x-amz-credential',
  'x-amz-security-token',
  'x-amz-signature',
]

interface Location {
  readonly header?: { readonly name: string }
  readonly queryParameter?: { readonly name: string }
  readonly expression?: string
}

/** `request.headers["name"]`, `request.headers.name`. */
const HEADER_OF_EXPRESSION = /request\.headers(?:\[\s*["']([^"']+)["']\s*\]|\.([A-Za-z0-9_]+))/g

export class CredentialNames {
  readonly #headers = new Set<string>()
  readonly #parameters = new Set(SENSITIVE_PARAMETERS)

  static of(config: RenderedConfig): CredentialNames {
    const names = new CredentialNames()
    for (const { policy } of config.policies) {
      names.#addTraffic(policy.traffic)
      names.#addBackend(policy.backend)
    }
    for (const { inlinePolicies, backends } of config.routes) {
      names.#addTraffic(inlinePolicies)
      for (const backend of backends) names.#addBackend(backend.inlinePolicies)
    }
    for (const { inlinePolicies, ai } of config.backends) {
      names.#addBackend(inlinePolicies)
      for (const { providers } of ai?.groups ?? []) {
        for (const provider of providers) names.#addBackend(provider.inlinePolicies)
      }
    }
    return names
  }

  hasHeader(name: string): boolean {
    return isSensitiveHeader(name) || this.#headers.has(name)
  }

  hasParameter(name: string): boolean {
    return this.#parameters.has(name.toLowerCase())
  }

  #addTraffic(traffic: TrafficPayload | undefined): void {
    if (traffic === undefined) return
    this.#add(traffic.jwtAuth?.location)
    this.#add(traffic.basicAuth?.location)
    this.#add(traffic.apiKey?.location)
  }

  #addBackend(backend: BackendPayload | undefined): void {
    if (backend?.auth === undefined) return
    this.#add(backend.auth.location)
    for (const { location } of backend.auth.credentials ?? []) this.#add(location)
  }

  #add(location: Location | undefined): void {
    if (location?.header !== undefined) this.#headers.add(location.header.name.toLowerCase())
    if (location?.queryParameter !== undefined) this.#parameters.add(location.queryParameter.name.toLowerCase())
    // A field that a credential is made of is one as a whole.
    for (const [, quoted, member] of location?.expression?.matchAll(HEADER_OF_EXPRESSION) ?? []) {
      this.#headers.add((quoted ?? member ?? '').toLowerCase())
    }
  }
}
