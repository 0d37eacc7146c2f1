// The proxy as a member of a mesh, on the main thread: keeps its certificate, and adds it to the secrets of workers.
import type { RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Logger } from '../log/logger.ts'
import type { PlainMetric } from '../metrics/exposed.ts'
import { CaClient } from './ca-client.ts'
import { IdentityKeeper, type ShownIdentity } from './identity-keeper.ts'
import { withMeshIdentity } from './mesh-secrets.ts'
import { acceptedTrustDomains, type MeshSettings } from './settings.ts'

export interface ShownMesh extends ShownIdentity {
  /** `host:port`; undefined: the configured address is invalid. */
  readonly ca: string | undefined
  readonly trustDomains: readonly string[]
}

/** Called with the reason why there is no current certificate; undefined: there is one again. */
export type TroubleListener = (message: string | undefined) => void

export class MeshMember {
  readonly #settings: MeshSettings
  readonly #keeper: IdentityKeeper
  #trouble: { readonly listener: TroubleListener; last: string | undefined } | undefined = undefined

  /** `changed`: the certificate is another one, or there is none any more. */
  constructor(settings: MeshSettings, { logger, changed }: { readonly logger: Logger; readonly changed: () => void }) {
    this.#settings = settings
    this.#keeper = new IdentityKeeper({
      source: new CaClient({ settings }),
      logger,
      changed,
      troubled: () => this.#report(),
    })
  }

  start(): void {
    this.#keeper.start()
  }

  close(): void {
    this.#keeper.close()
  }

  /** Replaces the listener, and calls it at once if there is something to report. */
  onTrouble(listener: TroubleListener): void {
    this.#trouble = { listener, last: undefined }
    this.#report()
  }

  #report(): void {
    const { trouble } = this.#keeper
    if (this.#trouble === undefined || this.#trouble.last === trouble) return
    this.#trouble.last = trouble
    this.#trouble.listener(trouble)
  }

  /** The secrets of a configuration with the certificate of now, if there is one. */
  addTo(secrets: RenderedSecrets): RenderedSecrets {
    return withMeshIdentity(secrets, this.#keeper.certificate, acceptedTrustDomains(this.#settings))
  }

  shown(): ShownMesh {
    const { ca } = this.#settings
    const trustDomains = acceptedTrustDomains(this.#settings)
    return { ca: ca && `${ca.host}:${ca.port}`, trustDomains, ...this.#keeper.shown() }
  }

  metrics(): PlainMetric[] {
    return [
      {
        name: 'gw_mesh_certificate_expiration_timestamp_seconds',
        help: 'Expiry time of the certificate of the mesh, since the epoch; absent without a valid one',
        type: 'gauge',
        values: () => {
          const { certificate } = this.#keeper
          return certificate === undefined ? [] : [{ value: certificate.untilMs / 1000 }]
        },
      },
      {
        name: 'gw_mesh_certificate_requests_total',
        help: 'Requests for a certificate of the mesh, by result',
        type: 'counter',
        values: () => Object.entries(this.#keeper.requests).map(([result, value]) => ({ labels: { result }, value })),
      },
    ]
  }
}
