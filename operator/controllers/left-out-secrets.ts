// Which objects use Secrets that deliveries have no room for, by object and by Gateway.
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { isSame } from '#api/incremental/same.ts'
import type { LeftOutUse } from '../status/left-out-secrets.ts'
import { usersOfSecrets } from '../translate/cluster/secret-users.ts'
import { describe } from '../translate/object-ref.ts'

const NONE: readonly LeftOutUse[] = []

export class LeftOutSecrets {
  readonly #byGateway = new Map<string, readonly LeftOutUse[]>()
  /** As `describe` names them. */
  readonly #byObject = new Map<string, LeftOutUse[]>()

  usesOf(object: string): readonly LeftOutUse[] {
    return this.#byObject.get(object) ?? NONE
  }

  *all(): IterableIterator<LeftOutUse> {
    for (const uses of this.#byGateway.values()) yield* uses
  }

  /**
   * `secrets`: of the delivery of this Gateway, `namespace/name`. Returns the objects whose uses have changed, as
   * `describe` names them.
   */
  take(gateway: string, secrets: readonly string[], config: RenderedConfig | undefined): readonly string[] {
    const former = this.#byGateway.get(gateway) ?? NONE
    const now = config === undefined || secrets.length === 0 ? NONE : usesAt(gateway, secrets, config)
    if (isSame(former, now)) return []
    for (const { user } of former) this.#forget(describe(user), gateway)
    if (now.length === 0) this.#byGateway.delete(gateway)
    else this.#byGateway.set(gateway, now)
    for (const use of now) {
      const object = describe(use.user)
      this.#byObject.set(object, [...this.usesOf(object), use])
    }
    return [...new Set([...former, ...now].map(({ user }) => describe(user)))]
  }

  #forget(object: string, gateway: string): void {
    const left = this.usesOf(object).filter((use) => use.gateway !== gateway)
    if (left.length === 0) this.#byObject.delete(object)
    else this.#byObject.set(object, left)
  }
}

function usesAt(gateway: string, secrets: readonly string[], config: RenderedConfig): LeftOutUse[] {
  const users = usersOfSecrets(config, secrets)
  const affected = new Set(
    users.flatMap(({ listener, ...user }) => (listener === undefined ? [] : [listenerKey(user, listener)])),
  )
  const hasServedListener = config.listeners.some(({ tls, name }) => {
    const { gatewayNamespace, gatewayName, listenerName, listenerSet } = name
    const owner = listenerSet ?? { namespace: gatewayNamespace, name: gatewayName }
    const kind = listenerSet === undefined ? 'Gateway' : 'ListenerSet'
    return tls?.invalid === undefined && !affected.has(listenerKey({ kind, ...owner }, listenerName))
  })
  return users.map((user) => ({ gateway, user, hasServedListener }))
}

function listenerKey(owner: Parameters<typeof describe>[0], listener: string): string {
  return `${describe(owner)} ${listener}`
}
