// Creates the objects that run a Gateway and keeps them up to date: applies changed objects (server-side apply) and
// deletes objects that are no longer needed, also when another client changes one. The deployer renders the objects.
import { createHash, randomBytes } from 'node:crypto'
import { Data, Effect, Result } from 'effect'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import type { DeployProblem, DeployResult, SessionKeyFact } from '#deployer/input.ts'
import { OWNED_KINDS, objectsToPrune } from '#deployer/owned-kinds.ts'
import { meshConfigMapName, meshTrustDomain } from '#deployer/parameters/mesh-config.ts'
import { missingCatalogs } from '#deployer/parameters/model-catalog.ts'
import { parametersOf } from '#deployer/parameters/references.ts'
import { renderDeployment } from '#deployer/render.ts'
import { renderedFacts } from '#deployer/rendered-facts.ts'
import { SESSION_KEY_FIELD, sessionKeyName } from '#deployer/session-key.ts'
import type { ObjectCache } from '../kube/cache.ts'
import { KubeClient } from '../kube/client.ts'
import { elapsedMs } from '../kube/elapsed.ts'
import type { KubeError } from '../kube/errors.ts'
import { isOwnedBy, notOwned } from '../kube/ownership.ts'
import { type Resource, resourceOf } from '../kube/resources.ts'
import { type MissingObject, missingTwice, WritesUnderWay } from '../kube/unseen.ts'
import type { ConfigMap, KubeObject } from '../translate/kube.ts'
import type { RenderedGateway } from '../translate/translation.ts'
import { refusalText, SHAPED_KINDS } from './deploy-refusal.ts'
import { keptReplicas, replicasManager } from './kept-replicas.ts'
import type { OperatorSettings } from './settings.ts'
import { Succession } from './succession.ts'

export interface GatewayDeployerOptions {
  readonly settings: OperatorSettings
  readonly cache: ObjectCache
  /** Called when the known state of the Gateway's objects has changed. */
  readonly onChange: (key: string) => void
  /** Called when an object was changed by another client, and nothing else will report that. */
  readonly onTouched: (key: string) => void
}

interface Applied {
  readonly hash: string
  readonly version: string | undefined
}

interface Deployment {
  readonly uid: string | undefined
  /** By `kind/name`. */
  readonly applied: Map<string, Applied>
  readonly underWay: WritesUnderWay
  readonly succession: Succession
  /** One of them was changed or deleted before the response to its write arrived. */
  isTouched: boolean
  /** The session key, perhaps not in the cache yet: a second key would end sessions. */
  readonly newSessionKey: string
  problems: readonly DeployProblem[]
  failure: string | undefined
  /** `kind/name` of objects with the same name that belong to another owner. */
  refused: readonly string[]
  /** Of the class and of the Gateway, as last used. */
  parameters: readonly GwParameters[]
}

export class GatewayDeployer {
  readonly #options: GatewayDeployerOptions
  readonly #deployments = new Map<string, Deployment>()
  /** Gateways with a written object that the cache does not have: deleted before a watch could report it. */
  readonly missing = missingTwice(() => this.#unseen())

  constructor(options: GatewayDeployerOptions) {
    this.#options = options
  }

  problemsOf(key: string): readonly DeployProblem[] {
    return this.#deployments.get(key)?.problems ?? []
  }

  failureOf(key: string): string | undefined {
    return this.#deployments.get(key)?.failure
  }

  /** Gateways that wait until an object of another owner is deleted. */
  refused(): string[] {
    return [...this.#deployments].filter(([, { refused }]) => refused.length > 0).map(([key]) => key)
  }

  /** Gateways with an old object that stays until the new one serves. */
  waiting(): string[] {
    return [...this.#deployments].filter(([, { succession }]) => succession.isWaiting).map(([key]) => key)
  }

  isWaiting(key: string): boolean {
    return this.#deployments.get(key)?.succession.isWaiting === true
  }

  forget(key: string): void {
    this.#deployments.delete(key)
  }

  /** Whether an object of this operator was changed by another client. */
  touched(key: string, { kind, metadata }: KubeObject, version: string): boolean {
    const deployment = this.#deployments.get(key)
    const id = `${kind}/${metadata.name}`
    if (deployment?.refused.includes(id) === true) return true
    deployment?.underWay.reported(id, version)
    const applied = deployment?.applied
    const known = applied?.get(id)
    if (applied === undefined || known === undefined) return false
    if (known.version === version || Number(version) < Number(known.version)) return false
    applied.delete(id)
    return true
  }

  *#unseen(): Iterable<MissingObject> {
    for (const [key, { applied }] of this.#deployments) {
      const namespace = key.slice(0, key.indexOf('/'))
      for (const id of applied.keys()) {
        const [kind = '', name = ''] = id.split('/')
        if (this.#options.cache.get(kind, namespace, name) !== undefined) continue
        yield { key, id, forget: () => void applied.delete(id) }
      }
    }
  }

  /** If a person must act on an object of another owner, the deployment has failed. */
  deploy(key: string, gateway: Gateway, rendered: RenderedGateway): Effect.Effect<void, KubeError, KubeClient> {
    const deployment = this.#deploymentOf(key, gateway)
    return this.#deploy(deployment, gateway, rendered).pipe(
      Effect.tap((refusal) => Effect.sync(() => this.#set(key, deployment, refusal))),
      Effect.tapError(({ text }) => Effect.sync(() => this.#set(key, deployment, text))),
      Effect.mapError(({ error }) => error),
      Effect.asVoid,
    )
  }

  #set(key: string, deployment: Deployment, failure: string | undefined): void {
    deployment.failure = failure
    this.#options.onChange(key)
    if (deployment.isTouched) this.#options.onTouched(key)
    deployment.isTouched = false
  }

  #deploymentOf(key: string, { metadata: { uid } }: Gateway): Deployment {
    const known = this.#deployments.get(key)
    if (known?.uid === uid && known !== undefined) return known
    const newSessionKey = randomBytes(SESSION_KEY_BYTES).toString('hex')
    const made: Deployment = {
      uid,
      applied: new Map(),
      underWay: new WritesUnderWay(),
      succession: new Succession(),
      isTouched: false,
      newSessionKey,
      problems: [],
      failure: undefined,
      refused: [],
      parameters: [],
    }
    this.#deployments.set(key, made)
    return made
  }

  #deploy(
    deployment: Deployment,
    gateway: Gateway,
    rendered: RenderedGateway,
  ): Effect.Effect<string | undefined, NotWritten, KubeClient> {
    const { cache, settings } = this.#options
    const gatewayClass = cache.get('GatewayClass', '', gateway.spec.gatewayClassName)
    deployment.refused = []
    if (gatewayClass === undefined) return Effect.succeed(undefined)
    // Of its kind in the cache.
    const result = this.#render(deployment, gateway, gatewayClass as GatewayClass, rendered)
    deployment.problems = result.problems
    if (result.problems.some(({ severity }) => severity === 'error')) return Effect.succeed(undefined)
    return applyAll({ deployment, result, gateway, cache, manager: settings.controllerName })
  }

  #render(
    deployment: Deployment,
    gateway: Gateway,
    gatewayClass: GatewayClass,
    { config }: RenderedGateway,
  ): DeployResult {
    const { cache, settings } = this.#options
    const { deploy } = settings
    // Of its kind in the cache.
    const find = (namespace: string, name: string): GwParameters | undefined =>
      cache.get('GwParameters', namespace, name) as GwParameters | undefined
    const { problems, ...parameters } = parametersOf({
      gateway,
      gatewayClass,
      find,
      restrictions: deploy.restrictions,
    })
    if (problems.some(({ severity }) => severity === 'error')) return { objects: [], problems }
    const { classParameters, gatewayParameters } = parameters
    deployment.parameters = [classParameters, gatewayParameters].filter((one) => one !== undefined)
    const { namespace = '', name } = gateway.metadata
    const catalogs = missingCatalogs(gatewayParameters, (found) =>
      configMapOf(cache.get('ConfigMap', namespace, found)),
    )
    const result = renderDeployment({
      gateway,
      gatewayClass,
      ...parameters,
      ...renderedFacts(config),
      settings: { ...deploy, mesh: { ...deploy.mesh, trustDomain: this.#meshTrustDomain() } },
      sessionKey: sessionKeyFact(cache.get('Secret', namespace, sessionKeyName(name)), deployment),
    })
    return { ...result, problems: [...result.problems, ...catalogs] }
  }

  /** Whether the pods of the Gateway mount this ConfigMap of its namespace. */
  mounts(key: string, configMap: string): boolean {
    const all = this.#deployments.get(key)?.parameters ?? []
    return all.some(({ spec }) => spec.modelCatalog?.sources?.some((one) => one.configMap.name === configMap))
  }

  /** From the ConfigMap of the mesh's control plane, if it can be read. */
  #meshTrustDomain(): string | undefined {
    const { cache, settings } = this.#options
    const found = cache.get('ConfigMap', settings.mesh.namespace, meshConfigMapName(settings.mesh.revision))
    return meshTrustDomain(configMapOf(found)?.data)
  }
}

/** A ConfigMap of the cache. */
function configMapOf(found: KubeObject | undefined): ConfigMap | undefined {
  return found as ConfigMap | undefined
}

const SESSION_KEY_BYTES = 32

function sessionKeyFact(secret: KubeObject | undefined, { newSessionKey }: Deployment): SessionKeyFact {
  if (secret === undefined) return { state: 'absent', newKey: newSessionKey }
  // A Secret.
  const encoded = (secret as { data?: Record<string, string> }).data?.[SESSION_KEY_FIELD]
  return { state: 'present', key: encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8') }
}

/** With the text for the status. */
class NotWritten extends Data.TaggedError('NotWritten')<{ readonly error: KubeError; readonly text: string }> {}

interface ApplyInput {
  readonly deployment: Deployment
  readonly result: DeployResult
  readonly gateway: Gateway
  readonly cache: ObjectCache
  readonly manager: string
}

const applyAll = Effect.fn('operator.deployGateway')(function* (input: ApplyInput) {
  const { deployment, result, gateway } = input
  const due = result.objects.map((object) => changeOf(deployment, object)).filter((change) => change !== undefined)
  const described = <A, R>({ object }: Pick<Change, 'object'>, call: Effect.Effect<A, KubeError, R>) =>
    Effect.mapError(call, (error) => {
      const text = refusalText(error, object, deployment.parameters)
      return new NotWritten({ error, text })
    })
  const found = yield* Effect.forEach(due, (change) => described(change, liveObject(change)), { concurrency: LOOKS })
  const refused = found.filter((live) => live !== undefined).filter((live) => !isOwnedBy(live, gateway))
  if (refused.length > 0) return refuse(deployment, refused)
  if (due.length > 1) {
    const tries = due.filter(({ object }) => SHAPED_KINDS.has(object.kind))
    const tried = yield* Effect.forEach(tries, (change) => Effect.result(described(change, tryOne(input, change))), {
      concurrency: LOOKS,
    })
    const [first, ...others] = tried.filter(Result.isFailure).map(({ failure }) => failure)
    if (first !== undefined) {
      const text = [first, ...others].map((one) => one.text).join('\n')
      return yield* new NotWritten({ error: first.error, text })
    }
  }
  for (const [i, change] of due.entries()) yield* described(change, applyOne(input, change, found[i]))
  for (const object of yield* settled(input)) {
    const client = yield* KubeClient
    const resource = resourceOf(object)
    if (resource === undefined) continue
    const { namespace = '', name } = object.metadata
    const removal = client.remove(resource, namespace, name)
    yield* described(
      { object },
      Effect.catchTag(removal, 'KubeNotFound', () => Effect.void),
    )
    deployment.applied.delete(`${object.kind}/${name}`)
  }
  return undefined
})

/** Objects that are no longer needed and can be deleted now. */
const settled = Effect.fnUntraced(function* ({ deployment: { succession }, result, gateway, cache }: ApplyInput) {
  const wanted = result.objects
  const live = PRUNED_KINDS.flatMap((kind) => [...cache.all(kind)])
  const wasWaiting = succession.isWaiting
  const unwanted = objectsToPrune(live, { gateway, wanted })
  const find = (kind: string, namespace: string, name: string): KubeObject | undefined =>
    cache.get(kind, namespace, name)
  const going = succession.settle({ unwanted, wanted, find, nowMs: yield* elapsedMs })
  if (succession.isWaiting && !wasWaiting) {
    const staying = unwanted.filter((object) => !going.includes(object)).map(idOf)
    yield* Effect.logInfo('the former proxies stay until the new ones are available', staying.join(', '))
  }
  return going
})

/** Objects that are read at the same time. */
const LOOKS = 4

interface Change {
  readonly object: KubeObject
  readonly resource: Resource
  readonly hash: string
}

/** undefined: the object was written like this already. */
function changeOf({ applied }: Deployment, object: KubeObject): Change | undefined {
  const resource = resourceOf(object)
  const hash = createHash('sha256').update(JSON.stringify(object)).digest('hex')
  if (resource === undefined || applied.get(idOf(object))?.hash === hash) return undefined
  return { object, resource, hash }
}

/** From the API server, since objects of users are not in the cache. */
const liveObject = Effect.fnUntraced(function* ({ object, resource }: Change) {
  const client = yield* KubeClient
  const { namespace = '', name } = object.metadata
  const live = yield* client
    .get(resource, namespace, name)
    .pipe(Effect.catchTag('KubeNotFound', () => Effect.succeed(undefined)))
  return live && { ...live, kind: object.kind }
})

/** Writes nothing, as for a deployment that has problems: half of a deployment cannot serve. */
function refuse(deployment: Deployment, objects: readonly KubeObject[]): string {
  deployment.refused = objects.map(idOf)
  return objects.map(({ kind, metadata: { name } }) => notOwned({ kind, name })).join('\n')
}

function idOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.name}`
}

const PRUNED_KINDS = OWNED_KINDS.filter(({ isPruned }) => isPruned).map(({ kind }) => kind)
const CREATED_KINDS: ReadonlySet<string> = new Set(
  OWNED_KINDS.filter(({ write }) => write === 'create').map(({ kind }) => kind),
)

function isThereAlready(error: KubeError): boolean {
  return error._tag === 'KubeConflict' && error.reason === 'AlreadyExists'
}

/** Whether the API server would accept it: half of a deployment cannot serve, and a serving one must not change. */
const tryOne = Effect.fnUntraced(function* ({ manager }: ApplyInput, { object, resource }: Change) {
  const client = yield* KubeClient
  yield* client.tryApply(object, resource, manager)
})

const applyOne = Effect.fnUntraced(function* (
  { deployment, manager, result }: ApplyInput,
  { object, resource, hash }: Change,
  live: KubeObject | undefined,
) {
  const client = yield* KubeClient
  const kept = keptReplicas({ object, live, manager, wanted: result.objects })
  const uid = live?.metadata.uid
  // With its uid: if another object has taken the name since, the server rejects the request.
  const known = uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } }
  const write = CREATED_KINDS.has(object.kind)
    ? client
        .create(object, resource, manager)
        // Other conflicts, such as a concurrent change of a quota, have written nothing.
        .pipe(Effect.catchIf(isThereAlready, () => Effect.succeed(undefined)))
    : Effect.andThen(
        kept === undefined ? Effect.void : client.apply(kept, resource, replicasManager(manager)),
        client.apply(known, resource, manager),
      )
  const { applied, underWay } = deployment
  const id = idOf(object)
  const { written, isTouched } = yield* underWay.follow(id, write)
  if (isTouched) deployment.isTouched = true
  else applied.set(id, { hash, version: written?.metadata.resourceVersion })
})
