// The items of a configuration that may have places of credentials or keys to check them: few of many,
// updated from one configuration to the next.
import type { Backend, RenderedConfig, Route } from '#api/ir/types.gen.ts'
import { Grouped } from '#api/incremental/grouped.ts'
import type { Steps } from '#api/incremental/steps.ts'

type Lists = Pick<RenderedConfig, 'policies' | 'routes' | 'backends'>

const CARRIERS = 'carriers'

export class CredentialCarriers {
  readonly policies: Lists['policies']
  readonly #routes: Grouped<Route>
  readonly #backends: Grouped<Backend>

  private constructor(policies: Lists['policies'], routes: Grouped<Route>, backends: Grouped<Backend>) {
    this.policies = policies
    this.#routes = routes
    this.#backends = backends
  }

  static *stepsOf({ policies, routes, backends }: Lists, former?: CredentialCarriers): Steps<CredentialCarriers> {
    return new CredentialCarriers(
      policies,
      yield* Grouped.stepsOf(routes, routeKeys, former && former.#routes),
      yield* Grouped.stepsOf(backends, backendKeys, former && former.#backends),
    )
  }

  get routes(): readonly Route[] {
    return this.#routes.at(CARRIERS)
  }

  get backends(): readonly Backend[] {
    return this.#backends.at(CARRIERS)
  }

  isAs(other: CredentialCarriers): boolean {
    return this.policies === other.policies && this.routes === other.routes && this.backends === other.backends
  }
}

function routeKeys({ inlinePolicies = {}, backends }: Route): readonly string[] {
  const { jwtAuthentication, basicAuthentication, apiKeyAuthentication } = inlinePolicies
  const isCarrier =
    (jwtAuthentication ?? basicAuthentication ?? apiKeyAuthentication) !== undefined ||
    backends.some((one) => one.inlinePolicies !== undefined)
  return isCarrier ? [CARRIERS] : []
}

/** Backends that are not plain addresses may have policies at deeper levels. */
function backendKeys({ inlinePolicies, ai, mcp, models }: Backend): readonly string[] {
  return (inlinePolicies ?? ai ?? mcp ?? models) === undefined ? [] : [CARRIERS]
}
