// A configuration as the compiler reads it: everything by its key. Updated from one configuration to the next, so
// that only changes are processed; an unchanged list is the same object under the same key.
import type { Policy, RenderedConfig, RenderedSecrets, SecretRef } from '#api/ir/types.gen.ts'
import { TargetDirectory } from '../backend/directory.ts'
import { policyIndexSteps } from '../policy/policy-index.ts'
import { CredentialCarriers } from './credential-carriers.ts'
import type { Grouped } from '#api/incremental/grouped.ts'
import type { Steps } from '#api/incremental/steps.ts'
import { RouteIndex } from './route-index.ts'

type SecretLookup = (ref: SecretRef) => string | undefined

type Parts = Pick<ConfigIndex, 'routes' | 'targets' | 'policies' | 'carriers'>

export class ConfigIndex {
  readonly routes: RouteIndex
  /** The objects that references name. */
  readonly targets: TargetDirectory
  readonly policies: Grouped<Policy>
  readonly carriers: CredentialCarriers
  /** The same function for the same secrets. */
  readonly secret: SecretLookup
  readonly #secrets: RenderedSecrets

  private constructor(parts: Parts, secrets: RenderedSecrets, former: ConfigIndex | undefined) {
    this.routes = parts.routes
    this.targets = parts.targets
    this.policies = parts.policies
    this.carriers = parts.carriers
    this.secret = former !== undefined && former.#secrets === secrets ? former.secret : lookupOf(secrets)
    this.#secrets = secrets
  }

  /** `former`: the index of the configuration in force; it is not changed. */
  static *stepsOf(config: RenderedConfig, secrets: RenderedSecrets, former?: ConfigIndex): Steps<ConfigIndex> {
    const parts: Parts = {
      routes: yield* RouteIndex.stepsOf(config.routes, former?.routes),
      targets: yield* TargetDirectory.stepsOf(config, former?.targets),
      policies: yield* policyIndexSteps(config.policies, former?.policies),
      carriers: yield* CredentialCarriers.stepsOf(config, former?.carriers),
    }
    return new ConfigIndex(parts, secrets, former)
  }
}

function lookupOf({ secrets }: RenderedSecrets): SecretLookup {
  const values = new Map(secrets.map(({ key, value }) => [key, value]))
  return (ref) => values.get(ref.secret)
}
