// Makes the objects that run a Gateway and keeps them as they should be: server-side apply of what changed, removal of
// what is no longer wanted, again when somebody else changes one. What they look like is the deployer's business.
import { createHash, randomBytes } from 'node:crypto'
import { Effect } from 'effect'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployProblem, DeployResult, SessionKeyFact } from '#deployer/input.ts'
import { OWNED_KINDS, objectsToPrune } from '#deployer/owned-kinds.ts'
import { parametersOf } from '#deployer/parameters/references.ts'
import { renderDeployment } from '#deployer/render.ts'
import { SESSION_KEY_FIELD, sessionKeyName } from '#deployer/session-key.ts'
import type { ObjectCache } from '../kube/cache.ts'
import { KubeClient } from '../kube/client.ts'
import { describeKubeError, type KubeError } from '../kube/errors.ts'
import { resourceOf } from '../kube/resources.ts'
import type { KubeObject } from '../translate/kube.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import type { OperatorSettings } from './settings.ts'

export interface GatewayDeployerOptions {
  readonly settings: OperatorSettings
  readonly cache: ObjectCache
  /** Told when what is known of the Gateway's objects has changed. */
  readonly onChange: (key: string) => void
}

interface Applied {
  readonly hash: string
  readonly version: string | undefined
}

interface Deployment {
  readonly uid: string | undefined
  /** By `kind/name`. */
  readonly applied: Map<string, Applied>
  /** Drawn, and perhaps not seen in the cluster yet: a second one would end sessions. */
  readonly newSessionKey: string
  problems: readonly DeployProblem[]
  failure: string | undefined
}

export class GatewayDeployer {
  readonly #options: GatewayDeployerOptions
  readonly #deployments = new Map<string, Deployment>()

  constructor(options: GatewayDeployerOptions) {
    this.#options = options
  }

  /** Errors only. */
  problemsOf(key: string): readonly DeployProblem[] {
    return this.#deployments.get(key)?.problems ?? []
  }

  failureOf(key: string): string | undefined {
    return this.#deployments.get(key)?.failure
  }

  forget(key: string): void {
    this.#deployments.delete(key)
  }

  /** Whether an object that is ours is not as we left it. */
  touched(key: string, { kind, metadata }: KubeObject, version: string): boolean {
    const applied = this.#deployments.get(key)?.applied
    const id = `${kind}/${metadata.name}`
    const known = applied?.get(id)
    if (applied === undefined || known === undefined) return false
    if (known.version === version || Number(version) < Number(known.version)) return false
    applied.delete(id)
    return true
  }

  deploy(key: string, gateway: Gateway, rendered: RenderedGateway): Effect.Effect<void, KubeError, KubeClient> {
    const deployment = this.#deploymentOf(key, gateway)
    return this.#deploy(deployment, gateway, rendered).pipe(
      Effect.tap(() => Effect.sync(() => this.#set(key, deployment, undefined))),
      Effect.tapError((error) => Effect.sync(() => this.#set(key, deployment, describeKubeError(error)))),
    )
  }

  #set(key: string, deployment: Deployment, failure: string | undefined): void {
    deployment.failure = failure
    this.#options.onChange(key)
  }

  #deploymentOf(key: string, { metadata: { uid } }: Gateway): Deployment {
    const known = this.#deployments.get(key)
    if (known?.uid === uid && known !== undefined) return known
    const newSessionKey = randomBytes(SESSION_KEY_BYTES).toString('hex')
    const made: Deployment = { uid, applied: new Map(), newSessionKey, problems: [], failure: undefined }
    this.#deployments.set(key, made)
    return made
  }

  #deploy(
    deployment: Deployment,
    gateway: Gateway,
    rendered: RenderedGateway,
  ): Effect.Effect<void, KubeError, KubeClient> {
    const { cache, settings } = this.#options
    const gatewayClass = cache.get('GatewayClass', '', gateway.spec.gatewayClassName)
    if (gatewayClass === undefined) return Effect.void
    // Of its kind in the cache.
    const result = this.#render(deployment, gateway, gatewayClass as GatewayClass, rendered)
    deployment.problems = result.problems.filter(({ severity }) => severity === 'error')
    if (deployment.problems.length > 0) return Effect.void
    return applyAll({ deployment, result, gateway, cache, manager: settings.controllerName })
  }

  #render(
    deployment: Deployment,
    gateway: Gateway,
    gatewayClass: GatewayClass,
    { config }: RenderedGateway,
  ): DeployResult {
    const { cache, settings } = this.#options
    // Of its kind in the cache.
    const find = (namespace: string, name: string): GwParameters | undefined =>
      cache.get('GwParameters', namespace, name) as GwParameters | undefined
    const { problems, ...parameters } = parametersOf({ gateway, gatewayClass, find })
    if (problems.some(({ severity }) => severity === 'error')) return { objects: [], problems }
    const { namespace = '', name } = gateway.metadata
    return renderDeployment({
      gateway,
      gatewayClass,
      ...parameters,
      ports: config.binds.filter(({ mode }) => mode !== 'Internal').map(({ port }) => port),
      settings: settings.deploy,
      sessionKey: sessionKeyFact(cache.get('Secret', namespace, sessionKeyName(name)), deployment),
    })
  }
}

const SESSION_KEY_BYTES = 32

function sessionKeyFact(secret: KubeObject | undefined, { newSessionKey }: Deployment): SessionKeyFact {
  if (secret === undefined) return { state: 'absent', newKey: newSessionKey }
  // A Secret.
  const encoded = (secret as { data?: Record<string, string> }).data?.[SESSION_KEY_FIELD]
  return { state: 'present', key: encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8') }
}

interface ApplyInput {
  readonly deployment: Deployment
  readonly result: DeployResult
  readonly gateway: Gateway
  readonly cache: ObjectCache
  readonly manager: string
}

const applyAll = Effect.fn('operator.deployGateway')(function* (input: ApplyInput) {
  const { deployment, result, gateway, cache } = input
  for (const object of result.objects) yield* applyOne(input, object)
  const live = PRUNED_KINDS.flatMap((kind) => [...cache.all(kind)])
  for (const object of objectsToPrune(live, { gateway, wanted: result.objects })) {
    const client = yield* KubeClient
    const resource = resourceOf(object)
    if (resource === undefined) continue
    const { namespace = '', name } = object.metadata
    yield* client.remove(resource, namespace, name).pipe(Effect.catchTag('KubeNotFound', () => Effect.void))
    deployment.applied.delete(`${object.kind}/${name}`)
  }
})

const PRUNED_KINDS = OWNED_KINDS.filter(({ isPruned }) => isPruned).map(({ kind }) => kind)
const CREATED_KINDS: ReadonlySet<string> = new Set(
  OWNED_KINDS.filter(({ write }) => write === 'create').map(({ kind }) => kind),
)

const applyOne = Effect.fnUntraced(function* ({ deployment, manager }: ApplyInput, object: KubeObject) {
  const client = yield* KubeClient
  const resource = resourceOf(object)
  const id = `${object.kind}/${object.metadata.name}`
  const hash = createHash('sha256').update(JSON.stringify(object)).digest('hex')
  if (resource === undefined || deployment.applied.get(id)?.hash === hash) return
  const written = CREATED_KINDS.has(object.kind)
    ? yield* client.create(object, resource).pipe(Effect.catchTag('KubeConflict', () => Effect.succeed(undefined)))
    : yield* client.apply(object, resource, manager)
  deployment.applied.set(id, { hash, version: written?.metadata.resourceVersion })
})
