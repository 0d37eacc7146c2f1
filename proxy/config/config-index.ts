// A configuration as the compiler reads it: everything by its key. Updated from one configuration to the next, so
// that only changes are processed; an unchanged list is the same object under the same key.
import type { Policy, RenderedConfig, RenderedSecrets, SecretRef } from '#api/ir/types.gen.ts'
import { TargetDirectory } from '../backend/directory.ts'
import { indexPolicies } from '../policy/policy-index.ts'
import { CredentialCarriers } from './credential-carriers.ts'
import type { Grouped } from '#api/incremental/grouped.ts'
import { RouteIndex } from './route-index.ts'

type SecretLookup = (ref: SecretRef) => string | undefined

export class ConfigIndex {
  readonly routes: RouteIndex
  /** The objects that references name. */
  readonly targets: TargetDirectory
  readonly policies: Grouped<Policy>
  readonly carriers: CredentialCarriers
  /** The same function for the same secrets. */
  readonly secret: SecretLookup
  readonly #secrets: RenderedSecrets

  private constructor(config: RenderedConfig, secrets: RenderedSecrets, former: ConfigIndex | undefined) {
    this.routes = RouteIndex.of(config.routes, former?.routes)
    this.targets = TargetDirectory.of(config, former?.targets)
    this.policies = former?.policies.after(config.policies) ?? indexPolicies(config.policies)
    this.carriers = CredentialCarriers.of(config, former?.carriers)
    this.secret = former !== undefined && former.#secrets === secrets ? former.secret : lookupOf(secrets)
    this.#secrets = secrets
  }

  /** `former`: the index of the configuration in force; it is not changed. */
  static of(config: RenderedConfig, secrets: RenderedSecrets, former?: ConfigIndex): ConfigIndex {
    return new ConfigIndex(config, secrets, former)
  }
}

function lookupOf({ secrets }: RenderedSecrets): SecretLookup {
  const values = new Map(secrets.map(({ key, value }) => [key, value]))
  return (ref) => values.get(ref.secret)
}
