// Backend credentials: the table of their kinds, and the filter that runs those of one policy in order. A kind that
// cannot be compiled fails all calls.
import type { BackendAuth } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { userOf } from '../chain/provenance.ts'
import type { TokenStore } from '../credentials/token.ts'
import type { CompiledPolicy, FetchedCredential, Filter } from '../chain/filter.ts'
import { cloudA } from './auth/cloud-a.ts'
import { cloudB } from './auth/cloud-b.ts'
import { cloudC } from './auth/cloud-c.ts'
import { crossAppAccess } from './auth/cross-app-access.ts'
import { key, keyAt } from './auth/key.ts'
import type { AuthEnvironment, AuthKind, CompiledAuth } from './auth/kind.ts'
import { oauthTokenExchange } from './auth/oauth-token-exchange.ts'
import { passthrough } from './auth/passthrough.ts'

/** In the order they run; a policy has at most one. `credentials` follow. */
const KINDS: { readonly [K in Exclude<keyof BackendAuth, 'location' | 'credentials'>]-?: AuthKind } = {
  passthrough,
  key,
  cloudA,
  cloudB,
  cloudC,
  crossAppAccess,
  oauthTokenExchange,
}

const IN_ORDER = Object.values(KINDS)

type Kind = keyof typeof KINDS

/** Their credentials are part of the configuration, or come with the request. */
const NOT_FETCHED: ReadonlySet<string> = new Set<Kind>(['passthrough', 'key'])

export function compileBackendAuth(auth: BackendAuth, own: AuthEnvironment): CompiledPolicy {
  const environment = { ...own, tokens: tokensFor(own.tokens, userOf(auth)) }
  const compiled = [
    ...IN_ORDER.flatMap((kind) => kind(auth, environment) ?? []),
    ...(auth.credentials ?? []).map((one) => keyAt(one.key, one.location, environment)),
  ]
  const problems = compiled.flatMap((one) => ('problem' in one ? [one.problem] : []))
  if (problems.length > 0) {
    const failure = { log: problems.join(', '), client: 'the credential is missing or unusable' }
    return { request: (exchange: Exchange) => exchange.fail('backendAuthFailed', failure) }
  }
  const usable = compiled.filter((one): one is CompiledAuth => !('problem' in one))
  return {
    request: (exchange) => runFrom(usable, 0, exchange),
    readsRequestBody: usable.some(({ readsRequestBody }) => readsRequestBody === true),
    fetched: fetchedBy(auth),
  }
}

/** Reports name the object that configures the credential. */
function tokensFor(tokens: TokenStore, usedBy: string | undefined): TokenStore {
  return {
    get: (source) => tokens.get(source, usedBy),
    invalidate: (source, refused) => tokens.invalidate(source, refused),
  }
}

function fetchedBy(auth: BackendAuth): FetchedCredential | undefined {
  if (auth.cloudA !== undefined) return auth.cloudA.secretRef === undefined ? 'Signature' : undefined
  const isFetched = Object.keys(auth).some((kind) => Object.hasOwn(KINDS, kind) && !NOT_FETCHED.has(kind))
  return isFetched ? 'Token' : undefined
}

function runFrom(steps: readonly CompiledAuth[], first: number, exchange: Exchange): ReturnType<Filter> {
  for (let index = first; index < steps.length; index++) {
    const step = steps[index]
    if (step === undefined) continue
    const verdict = step.request(exchange)
    if (verdict instanceof Promise) {
      return verdict.then((late) => {
        if (late !== undefined) return late
        exchange.trace?.note(step.note)
        return runFrom(steps, index + 1, exchange)
      })
    }
    if (verdict !== undefined) return verdict
    exchange.trace?.note(step.note)
  }
  return undefined
}
