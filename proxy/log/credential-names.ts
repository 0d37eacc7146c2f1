// The names of header fields and query parameters that carry credentials in the configuration, for redaction.
import type {
  Backend,
  BackendAuth,
  BackendPayload,
  JwtAuthentication,
  Policy,
  Route,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import { isSensitiveHeader, REDACTED } from '#api/credentials/sensitive-headers.ts'

/** Query parameters that always carry credentials. Lower case. */
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
  'sessionid',
  'sig',
  'signature',
  'token',
  'x-amz-credential',
  'x-amz-security-token',
  'x-amz-signature',
]

/** All items that may name one, and possibly others. */
interface CarrierLists {
  readonly policies: readonly Policy[]
  readonly routes: readonly Route[]
  readonly backends: readonly Backend[]
}

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
  /** Finds queries that may have a credential; created for the first query. */
  #suspicion: RegExp | undefined = undefined

  static of(config: CarrierLists): CredentialNames {
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

  /** The query without values of credentials. Calls `found` for each hidden value. */
  hideIn(query: string, found?: (value: string) => void): string {
    if (query === '' || !this.#suspect(query)) return query
    return query
      .split('&')
      .map((part) => {
        const equals = part.indexOf('=')
        if (equals < 0 || !this.hasParameter(decodedText(part.slice(0, equals)))) return part
        found?.(part.slice(equals + 1))
        return `${part.slice(0, equals + 1)}${REDACTED}`
      })
      .join('&')
  }

  /** One test for queries without credentials: an encoded name might be any name. */
  #suspect(query: string): boolean {
    if (this.#suspicion === undefined) {
      const names = [...this.#parameters].map((name) => name.replaceAll(/\W/g, '\\$&'))
      this.#suspicion = new RegExp(`(?:^|&)(?:${names.join('|')}|[^=&]*[%+][^=&]*)=`, 'i')
    }
    return this.#suspicion.test(query)
  }

  #addTraffic(traffic: TrafficPayload | undefined): void {
    if (traffic === undefined) return
    this.#addTokens(traffic.jwtAuthentication)
    this.#add(traffic.basicAuthentication?.location)
    this.#add(traffic.apiKeyAuthentication?.location)
  }

  #addBackend(backend: BackendPayload | undefined): void {
    if (backend === undefined) return
    this.#addTokens(backend.mcpAuthentication)
    if (backend.auth !== undefined) this.#addAuth(backend.auth)
  }

  #addAuth({ location, credentials, crossAppAccess, oauthTokenExchange: exchange }: BackendAuth): void {
    this.#add(location)
    for (const one of credentials ?? []) this.#add(one.location)
    this.#add(crossAppAccess?.subjectToken?.source)
    for (const one of [exchange?.subjectToken.source, exchange?.actorToken?.source, exchange?.location]) this.#add(one)
  }

  #addTokens(auth: JwtAuthentication | undefined): void {
    this.#add(auth?.location)
    // Users return to the gateway with their code.
    if (auth?.mcp !== undefined) this.#parameters.add('code')
  }

  #add(location: Location | undefined): void {
    if (location?.header !== undefined) this.#headers.add(location.header.name.toLowerCase())
    if (location?.queryParameter !== undefined) this.#parameters.add(location.queryParameter.name.toLowerCase())
    // A field that contains a credential is a credential as a whole.
    for (const name of headersOfExpression(location?.expression ?? '')) this.#headers.add(name)
  }
}

/** A name or value of a query, decoded if possible. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Names of the header fields that an expression reads. */
export function headersOfExpression(source: string): string[] {
  return [...source.matchAll(HEADER_OF_EXPRESSION)].map(([, quoted, member]) => (quoted ?? member ?? '').toLowerCase())
}
