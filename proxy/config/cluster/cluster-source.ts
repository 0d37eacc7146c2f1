// The configuration of a proxy in a cluster: from the mounted files at once, then from the API server.
// Applies a whole delivery or nothing, and reports the result. Without the API server, traffic is not affected.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Acknowledgement, MESH_TROUBLE_CHARS_MAX, REJECTION_CHARS_MAX } from '#api/delivery/acknowledgement.ts'
import { type Delivered, DeliveryDecoder } from '#api/delivery/decode.ts'
import type { DeliveryFault, ReadFile } from '#api/delivery/fault.ts'
import { DELIVERY_FORMAT } from '#api/delivery/index-file.ts'
import type { Files } from '#api/delivery/document.ts'
import { deliveryNames } from '#api/delivery/names.ts'
import type { RenderedConfig, RenderedSecrets } from '#api/ir/types.gen.ts'
import type { Logger } from '../../log/logger.ts'
import { type ApplyResult, SUPERSEDED } from '../apply-result.ts'
import { Acknowledger } from './acknowledger.ts'
import { BackOff } from './back-off.ts'
import { MissedKeys } from './missed-keys.ts'
import type { KubeClient } from './kube-client.ts'
import { filesOfConfigMap, filesOfFolder, filesOfSecret } from './object-files.ts'
import { watchObject } from './object-watch.ts'

export interface ClusterSourceOptions {
  readonly namespace: string
  readonly gateway: string
  readonly pod: string
  readonly mountPath: string
  /** Absent: only the mounted files are read, again every few seconds. */
  readonly client: KubeClient | undefined
  readonly logger: Logger
  /** Puts a configuration in force, or keeps the previous one. */
  readonly apply: (config: RenderedConfig, secrets: RenderedSecrets) => Promise<ApplyResult>
  /** Ends `apply` with the result SUPERSEDED, if it is still possible. */
  readonly supersede: () => void
}

type Part = 'config' | 'endpoints' | 'secrets'

/** The mount is read while the API server is unreachable: the kubelet updates it within a minute. */
const MOUNT_CHECK_MS = 5000
const RETRY = { firstMs: 50, maxMs: 2000 }
const NOTHING_LOADED: Acknowledgement = {
  generation: 0,
  gatewayGeneration: 0,
  gatewayUid: '',
  revision: '',
  reads: DELIVERY_FORMAT,
}

export class ClusterSource {
  readonly #options: ClusterSourceOptions
  readonly #decoder = new DeliveryDecoder()
  readonly #stopping = new AbortController()
  readonly #acknowledger: Acknowledger | undefined
  /** By `part/shard`. Only from the API server. */
  readonly #objects = new Map<string, Files>()
  readonly #retry = new BackOff(RETRY)
  #watches: Promise<unknown> = Promise.resolve()
  readonly #missedKeys = new MissedKeys()
  #meshTrouble: string | undefined = undefined
  /** The last report, without keys and the state of the mesh. */
  #word: Acknowledgement = NOTHING_LOADED
  #inForce: { readonly revision: string; readonly acknowledged: Acknowledgement } | undefined = undefined
  #lastFault = ''
  #work: Promise<void> = Promise.resolve()
  #isQueued = false
  #isRetrying = false
  /** A configuration is being prepared, and the next one may end that. */
  #isReplaceable = false
  #wasSuperseded = false
  #mountTimer: NodeJS.Timeout | undefined = undefined

  constructor(options: ClusterSourceOptions) {
    this.#options = options
    const { client, namespace, gateway, pod, logger } = options
    const collection = `/api/v1/namespaces/${namespace}/configmaps`
    const paths = deliveryNames(gateway).acknowledgements.map((name) => `${collection}/${name}`)
    const { signal } = this.#stopping
    this.#acknowledger = client && new Acknowledger({ client, paths, pod, logger, signal })
  }

  /** Resolves after the mounted files have been tried; the rest continues until `stop`. */
  async start(): Promise<void> {
    this.#changed()
    await this.#work
    const { client } = this.#options
    this.#mountTimer = setInterval(() => {
      if (!this.#hasHeard()) this.#changed()
    }, MOUNT_CHECK_MS)
    if (client === undefined) return
    const parts: Part[] = ['secrets', 'endpoints', 'config']
    this.#watches = Promise.all(parts.map((part) => this.#watch(client, part)))
  }

  async stop(): Promise<void> {
    clearInterval(this.#mountTimer)
    this.#stopping.abort()
    await this.#acknowledger?.takeBack()
    await this.#watches
    await this.#work
  }

  /** For a token without a matching key in the set: the operator fetches the set, possibly ahead of schedule. */
  unknownKey(source: string): void {
    if (this.#missedKeys.add(source)) this.#say(this.#word)
  }

  /** For the status of the Gateway; undefined: the proxy has a current certificate of its mesh again. */
  meshTrouble(message: string | undefined): void {
    this.#meshTrouble = message?.slice(0, MESH_TROUBLE_CHARS_MAX)
    this.#say(this.#word)
  }

  #watch(client: KubeClient, part: Part): Promise<void> {
    const { namespace, gateway, logger } = this.#options
    return watchObject({
      client,
      collection: `/api/v1/namespaces/${namespace}/${part === 'secrets' ? 'secrets' : 'configmaps'}`,
      name: deliveryNames(gateway)[part][0] ?? '',
      logger,
      signal: this.#stopping.signal,
      onObject: (object) => {
        // A deleted object changes nothing: the last valid configuration stays.
        if (object === undefined) return
        this.#objects.set(`${part}/0`, filesOf(part, object))
        this.#changed()
      },
    })
  }

  #hasHeard(): boolean {
    return this.#objects.has('config/0')
  }

  #changed(): void {
    // What is in force serves; the first configuration is awaited.
    if (this.#isReplaceable && this.#inForce !== undefined) this.#options.supersede()
    this.#isReplaceable = false
    if (this.#isQueued) return
    this.#isQueued = true
    this.#work = this.#work.then(async () => {
      // Objects that arrived together are one change.
      await nextTurn()
      this.#isQueued = false
      await this.#consider()
    })
  }

  async #consider(): Promise<void> {
    const objects = this.#hasHeard() ? this.#objects : new Map([['mount', filesOfFolder(this.#options.mountPath)]])
    const outcome = this.#decoder.decode(fileOf(objects))
    if ('delivered' in outcome) {
      this.#retry.reset()
      // The decoder has what was in them.
      for (const key of this.#objects.keys()) if (!key.endsWith('/0')) this.#objects.delete(key)
      await this.#apply(outcome.delivered)
      return
    }
    const { fault } = outcome
    if (fault.reason !== 'Incomplete') this.#refused(fault)
    else if (this.#hasHeard() && !this.#stopping.signal.aborted) await this.#fetchMissing(fault)
  }

  /** Further shards are not watched: they are read if an index names missing files. */
  async #fetchMissing({ missing, message }: DeliveryFault): Promise<void> {
    this.#options.logger.debug('delivery is incomplete', { fault: message })
    const wanted = new Map(missing.map(({ part, shard }) => [`${part}/${shard}`, { part, shard }]))
    await Promise.all([...wanted.values()].map(({ part, shard }) => this.#fetchShard(part, shard)))
    const file = fileOf(this.#objects)
    const isWhole = missing.every(({ names }) => names.some((name) => file(name) !== undefined))
    if (isWhole) this.#changed()
    else void this.#tryLater()
  }

  /** Runs in the background: missing parts may arrive at any moment. */
  async #tryLater(): Promise<void> {
    if (this.#isRetrying) return
    this.#isRetrying = true
    const isGoingOn = await this.#retry.wait(this.#stopping.signal)
    this.#isRetrying = false
    if (isGoingOn) this.#changed()
  }

  async #fetchShard(part: Part, shard: number): Promise<void> {
    const { client, namespace, gateway, logger } = this.#options
    const name = deliveryNames(gateway)[part][shard]
    if (shard === 0 || name === undefined || client === undefined) return
    const kind = part === 'secrets' ? 'secrets' : 'configmaps'
    try {
      const path = `/api/v1/namespaces/${namespace}/${kind}/${name}`
      const { status, body } = await client.get(path, this.#stopping.signal)
      if (status === 200) this.#objects.set(`${part}/${shard}`, filesOf(part, body))
      else logger.debug('shard does not exist yet', { name, status })
    } catch (error) {
      logger.warn('shard cannot be read, retrying', { name, error: String(error) })
    }
  }

  async #apply({ index, revision, config, secrets }: Delivered): Promise<void> {
    const { generation, gateway } = index
    const about = { generation, gatewayGeneration: gateway.generation, gatewayUid: gateway.uid, revision }
    const acknowledged = { ...about, reads: DELIVERY_FORMAT }
    if (this.#inForce?.revision !== revision) {
      // Changes without end do not keep all of them from being applied.
      this.#isReplaceable = !this.#wasSuperseded
      const result = await this.#options.apply(config, secrets)
      this.#isReplaceable = false
      this.#wasSuperseded = result === SUPERSEDED
      // What came meanwhile is considered next.
      if (result === SUPERSEDED) return
      if ('problem' in result) {
        this.#reject(generation, result.problem.message)
        return
      }
    }
    this.#lastFault = ''
    if (JSON.stringify(acknowledged) === JSON.stringify(this.#inForce?.acknowledged)) return
    this.#inForce = { revision, acknowledged }
    if (this.#acknowledger !== undefined) this.#acknowledger.proxies = index.proxies
    this.#say(acknowledged)
  }

  #say(word: Acknowledgement): void {
    this.#word = word
    const meshTrouble = this.#meshTrouble
    this.#acknowledger?.say({
      ...word,
      ...this.#missedKeys.word(),
      ...(meshTrouble !== undefined && { meshTrouble }),
    })
  }

  #refused({ reason, message }: DeliveryFault): void {
    if (this.#lastFault === message) return
    this.#options.logger.error('delivery rejected, the previous configuration stays in use', { reason, error: message })
    this.#reject(0, message)
  }

  #reject(generation: number, message: string): void {
    if (this.#lastFault === message) return
    this.#lastFault = message
    const rejected = { generation, message: message.slice(0, REJECTION_CHARS_MAX) }
    this.#say({ ...(this.#inForce?.acknowledged ?? NOTHING_LOADED), rejected })
  }
}

function filesOf(part: Part, object: unknown): Files {
  return part === 'secrets' ? filesOfSecret(object) : filesOfConfigMap(object)
}

function fileOf(objects: ReadonlyMap<string, Files>): ReadFile {
  return (name) => {
    for (const files of objects.values()) {
      const content = files.get(name)
      if (content !== undefined) return content
    }
    return undefined
  }
}
