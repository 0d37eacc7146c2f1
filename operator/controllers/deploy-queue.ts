// Deploys the objects that run a Gateway. Runs when its ports, its parameters or a deployed object change.
import { isDeepStrictEqual } from 'node:util'
import { Effect } from 'effect'
import type { DeployProblem } from '#deployer/input.ts'
import { isSessionKeyName, sessionKeyName } from '#deployer/session-key.ts'
import type { ObjectChange } from '../kube/cache.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeError } from '../kube/errors.ts'
import type { KubeObject } from '../translate/kube.ts'
import { GatewayDeployer } from './deploy-gateway.ts'
import type { KnownGateways, RenderedChange } from './known-gateways.ts'
import type { Keys } from './queues.ts'
import { isMeshConfig, versionOf, type World } from './world.ts'

export interface DeployQueueOptions {
  readonly world: World
  readonly gateways: KnownGateways
  readonly keys: Keys
  /** Called when the deployment state of a Gateway changes. */
  readonly onProblem: (key: string) => void
}

export class DeployQueue {
  readonly #options: DeployQueueOptions
  readonly #deployer: GatewayDeployer

  constructor(options: DeployQueueOptions) {
    const { world, keys, onProblem } = options
    this.#options = options
    this.#deployer = new GatewayDeployer({
      settings: world.settings,
      cache: world.cache,
      onChange: onProblem,
      onTouched: (key) => keys.add(key),
    })
  }

  problemsOf(key: string): readonly DeployProblem[] {
    return this.#deployer.problemsOf(key)
  }

  /** Why objects of a Gateway could not be written. */
  failureOf(key: string): string | undefined {
    return this.#deployer.failureOf(key)
  }

  /** Only the ports of the configuration matter here. */
  rendered({ key, before, after }: RenderedChange): void {
    const isSame = after !== undefined && isDeepStrictEqual(before?.config.binds, after.config.binds)
    if (!isSame) this.#options.keys.add(key)
  }

  /** The Gateway itself. */
  gatewayChanged(key: string): void {
    this.#options.keys.add(key)
  }

  /** An object of a user or of the mesh. */
  inputChanged(object: KubeObject, change: ObjectChange): void {
    const { world, gateways, keys } = this.#options
    if (change.kind === 'Secret') this.#secretChanged(object)
    if (change.kind === 'ConfigMap') this.#configMapChanged(object)
    const isForAll = change.kind === 'GwParameters' || change.kind === 'GatewayClass' || isMeshConfig(world, change)
    if (isForAll) for (const key of gateways.keys()) keys.add(key)
  }

  /** A session key that was rejected before. It may have no owner reference to the Gateway. */
  #secretChanged({ metadata: { namespace = '', name } }: KubeObject): void {
    if (!isSessionKeyName(name)) return
    for (const key of this.#options.gateways.in(namespace)) {
      const isOf = sessionKeyName(key.slice(namespace.length + 1)) === name
      if (isOf && this.#deployer.problemsOf(key).length > 0) this.#options.keys.add(key)
    }
  }

  /** The status reports a missing one. */
  #configMapChanged({ metadata: { namespace = '', name } }: KubeObject): void {
    const { gateways, keys } = this.#options
    for (const key of gateways.in(namespace)) if (this.#deployer.mounts(key, name)) keys.add(key)
  }

  /** An object that was deployed for the Gateway `owner`. */
  deployedChanged(owner: string, object: KubeObject, change: ObjectChange): void {
    if (this.#deployer.isWaiting(owner)) this.#options.keys.add(owner)
    if (change.isStatusOnly) return
    if (this.#deployer.touched(owner, object, versionOf(change))) this.#options.keys.add(owner)
  }

  /** Called periodically, for the reasons given in publish-queue.ts. */
  lookForDue(): void {
    const deployer = this.#deployer
    for (const key of [...deployer.refused(), ...deployer.missing(), ...deployer.waiting()]) {
      this.#options.keys.add(key)
    }
  }

  run(key: string): Effect.Effect<void, KubeError, KubeClient> {
    const known = this.#options.gateways.get(key)
    if (known !== undefined) return this.#deployer.deploy(key, known.gateway, known.rendered)
    this.#deployer.forget(key)
    return Effect.void
  }
}
