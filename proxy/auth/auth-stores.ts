// Keys, users and verified tokens of one configuration. Policies with the same keys share them, and the next
// configuration reuses those that it still needs: after a change of a route, tokens are not verified again.
import { hash } from 'node:crypto'
import type {
  ApiKeyAuthentication,
  Backend,
  BackendPayload,
  BasicAuthentication,
  JwtAuthentication,
  Policy,
  Route,
  SecretRef,
  TrafficPayload,
} from '#api/ir/types.gen.ts'
import { ApiKeyTable } from './api-key-table.ts'
import { JwtVerifier, type UnknownKeyListener } from './jwt-verifier.ts'
import { UserTable } from './user-table.ts'

export type SecretLookup = (ref: SecretRef) => string | undefined

/** By a digest of all inputs. */
interface Stores {
  readonly jwt: Map<string, JwtVerifier>
  readonly basic: Map<string, UserTable>
  readonly apiKey: Map<string, ApiKeyTable>
}

export interface AuthStoresOptions {
  readonly secret: SecretLookup
  /** Stores of the configuration in force. */
  readonly former?: AuthStores | undefined
  /** The same object while stores are reused. */
  readonly unknownKey?: UnknownKeyListener | undefined
}

interface CarrierLists {
  readonly policies: readonly Policy[]
  readonly routes: readonly Route[]
  readonly backends: readonly Backend[]
}

export class AuthStores {
  /** For the log; they name policies and secrets, never the content of secrets. */
  readonly warnings: string[] = []
  readonly #secret: SecretLookup
  readonly #unknownKey: UnknownKeyListener | undefined
  readonly #stores: Stores = { jwt: new Map(), basic: new Map(), apiKey: new Map() }
  /** Only while a configuration is read: unused former stores are dropped afterwards. */
  #former: Stores | undefined

  private constructor({ secret, former, unknownKey }: AuthStoresOptions) {
    this.#secret = secret
    this.#unknownKey = unknownKey
    this.#former = former === undefined ? undefined : former.#stores
  }

  /** `lists`: at least the items that may have stores. */
  static of(lists: CarrierLists, options: AuthStoresOptions): AuthStores {
    const stores = new AuthStores(options)
    for (const { key, policy } of lists.policies) {
      stores.#prepare(key, policy.traffic)
      stores.#prepareBackend(key, policy.backend)
    }
    for (const { key, inlinePolicies } of lists.backends) stores.#prepareBackend(`backend ${key}`, inlinePolicies)
    for (const { key, inlinePolicies } of lists.routes) {
      if (inlinePolicies !== undefined) stores.#prepare(`route ${key}`, inlinePolicies)
    }
    stores.#former = undefined
    return stores
  }

  jwt({ providers }: JwtAuthentication): JwtVerifier {
    const make = (): JwtVerifier => new JwtVerifier(providers, { unknownKey: this.#unknownKey })
    return shared(this.#stores.jwt, this.#former?.jwt, digestOf(providers), make)
  }

  basic({ users }: BasicAuthentication): UserTable {
    const text = this.#secret(users)
    return shared(this.#stores.basic, this.#former?.basic, digestOf(text), () => new UserTable(text))
  }

  apiKey({ keys = [], hashes = [] }: ApiKeyAuthentication): ApiKeyTable {
    const sources = keys.map((ref) => ({ name: ref.secret, value: this.#secret(ref) }))
    const key = digestOf([sources, hashes])
    return shared(this.#stores.apiKey, this.#former?.apiKey, key, () => new ApiKeyTable(sources, hashes))
  }

  #prepare(source: string, traffic: TrafficPayload | undefined): void {
    if (traffic === undefined) return
    const { jwtAuthentication, basicAuthentication, apiKeyAuthentication } = traffic
    if (jwtAuthentication !== undefined)
      this.#warn(`${source}: jwtAuthentication`, this.jwt(jwtAuthentication).warnings)
    if (basicAuthentication !== undefined)
      this.#warn(`${source}: basicAuthentication`, this.basic(basicAuthentication).warnings)
    if (apiKeyAuthentication !== undefined)
      this.#warn(`${source}: apiKeyAuthentication`, this.apiKey(apiKeyAuthentication).warnings)
  }

  #prepareBackend(source: string, payload: BackendPayload | undefined): void {
    const { mcpAuthentication } = payload ?? {}
    if (mcpAuthentication !== undefined) {
      this.#warn(`${source}: mcpAuthentication`, this.jwt(mcpAuthentication).warnings)
    }
  }

  #warn(place: string, warnings: readonly string[]): void {
    for (const warning of warnings) this.warnings.push(`${place}: ${warning}`)
  }
}

/** `former` undefined: there are no stores to reuse. */
function shared<T>(own: Map<string, T>, former: ReadonlyMap<string, T> | undefined, key: string, make: () => T): T {
  let store = own.get(key)
  if (store === undefined) {
    store = former?.get(key) ?? make()
    own.set(key, store)
  }
  return store
}

function digestOf(value: unknown): string {
  return hash('sha256', JSON.stringify(value) ?? '', 'base64')
}
