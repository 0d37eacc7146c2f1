// The responses of a fake API server, over any transport: list with pages, watch with bookmarks, server-side apply,
// status, conflicts, 410. The transports add faults. For tests only.
import { type Change, type FakeObject, merge, Refused, Store } from './store.ts'
import { type Match, matchOf } from './selectors.ts'

export interface FakeRequest {
  readonly method: string
  /** `gateways.gateway.networking.k8s.io`; core kinds have no group: `configmaps`. */
  readonly resource: string
  readonly isWatch: boolean
  readonly path: string
  readonly query: URLSearchParams
}

export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number }
  /** The connection breaks without a response. */
  | { readonly kind: 'drop' }
  /** The change is applied, and the response is lost. */
  | { readonly kind: 'lose-answer' }
  | { readonly kind: 'slow'; readonly ms: number }

export interface FakeCall extends FakeRequest {
  readonly target: Target | undefined
}

/** The receiver of a watch. */
export interface WatchSink {
  readonly event: (event: unknown) => void
  /** The connection breaks. */
  readonly drop: () => void
}

interface Watch extends WatchSink {
  readonly resource: string
  readonly match: Match
}

export class FakeApi {
  readonly store = new Store()
  /** Called for every request; undefined: no fault. */
  fault: (request: FakeRequest) => Fault | undefined = () => undefined
  /** The problem of an applied object; undefined: valid. */
  refusal: (object: FakeObject) => string | undefined = () => undefined
  /** False: as API servers before Kubernetes 1.32. */
  hasStreamedLists = false
  readonly requests: FakeRequest[] = []
  readonly #absent: Set<string>
  readonly #watches = new Set<Watch>()

  /** `absent`: resources that are not served, as if their CRD were not installed. */
  constructor(absent: readonly string[] = []) {
    this.#absent = new Set(absent)
    this.store.onChange((change) => {
      for (const watch of this.#watches) send(watch, change)
    })
  }

  get watchCount(): number {
    return this.#watches.size
  }

  serveResource(resource: string): void {
    this.#absent.delete(resource)
  }

  dropWatches(): void {
    for (const { drop } of this.#watches) drop()
  }

  bookmark(): void {
    const metadata = { resourceVersion: String(this.store.version) }
    for (const { event } of this.#watches) event({ type: 'BOOKMARK', object: { kind: 'Any', metadata } })
  }

  /** Records the call. `path`: with its query. */
  call(method: string, path: string): FakeCall {
    const { pathname, searchParams: query } = new URL(path, 'http://fake')
    const target = targetOf(pathname)
    const isWatch = /^(?:1|true)$/.test(query.get('watch') ?? '')
    const seen = { method, resource: target?.resource ?? '', isWatch, path: pathname, query }
    this.requests.push(seen)
    return { ...seen, target }
  }

  /** @throws Refused */
  answer({ method, target, query }: FakeCall, contentType: string, body: unknown): unknown {
    const { resource, namespace, name, isStatus } = this.#served(target)
    const key = `${namespace ?? ''}/${name ?? ''}`
    if (method === 'GET' && name === undefined) return this.#list({ resource, namespace }, query)
    if (method === 'GET') return this.#found(resource, key)
    if (method === 'DELETE') return this.store.delete(resource, key)
    // Bodies that clients of tests send.
    const object = body as FakeObject
    if (resource === REVIEWS) return { ...object, status: { userInfo: USER } }
    if (method === 'POST') return this.store.create(resource, placed(object, namespace))
    if (method === 'PUT') return this.store.update(resource, placed(object, namespace), isStatus)
    if (contentType === 'application/apply-patch+yaml') {
      return this.#apply(resource, placed(object, namespace), query)
    }
    const live = this.#found(resource, key)
    const { resourceVersion: _version, ...metadata } = live.metadata
    return this.store.update(resource, merge({ ...live, metadata }, object) as FakeObject, isStatus)
  }

  #apply(resource: string, object: FakeObject, query: URLSearchParams): FakeObject {
    const refusal = this.refusal(object)
    if (refusal !== undefined) throw new Refused(422, 'Invalid', refusal)
    if (query.get('dryRun') === 'All') return object
    return this.store.apply(resource, object, query.get('fieldManager') ?? '')
  }

  /**
   * Returns a function that ends the watch; undefined: the version is too old, and the sink got the error. @throws
   * Refused
   */
  watch({ target, query }: FakeCall, sink: WatchSink): (() => void) | undefined {
    const { resource, namespace } = this.#served(target)
    const isInitial = query.get('sendInitialEvents') === 'true'
    if (isInitial && !this.hasStreamedLists) throw new Refused(422, 'Invalid', 'sendInitialEvents is forbidden')
    if (isInitial) return this.#stream({ resource, namespace }, query, sink)
    const missed = this.store.since(Number(query.get('resourceVersion') ?? 0))
    if (missed === undefined) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' }
      sink.event({ type: 'ERROR', object })
      return undefined
    }
    const watch: Watch = { ...sink, resource, match: matchOf(namespace, query) }
    for (const change of missed) send(watch, change)
    this.#watches.add(watch)
    return () => void this.#watches.delete(watch)
  }

  #stream(
    { resource, namespace }: Pick<Target, 'resource' | 'namespace'>,
    query: URLSearchParams,
    sink: WatchSink,
  ): () => void {
    const watch: Watch = { ...sink, resource, match: matchOf(namespace, query) }
    for (const object of this.store.list(resource).filter(watch.match)) sink.event({ type: 'ADDED', object })
    const metadata = {
      resourceVersion: String(this.store.version),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    }
    sink.event({ type: 'BOOKMARK', object: { kind: 'Any', metadata } })
    this.#watches.add(watch)
    return () => void this.#watches.delete(watch)
  }

  #served(target: Target | undefined): Target {
    if (target === undefined || this.#absent.has(target.resource)) throw new Refused(404, 'NotFound', 'no such path')
    return target
  }

  #found(resource: string, key: string): FakeObject {
    const object = this.store.get(resource, key)
    if (object === undefined) throw new Refused(404, 'NotFound', `${resource} ${key} not found`)
    return object
  }

  #list({ resource, namespace }: Pick<Target, 'resource' | 'namespace'>, query: URLSearchParams): unknown {
    const matching = this.store.list(resource).filter(matchOf(namespace, query))
    const start = Number(query.get('continue') ?? 0)
    const limit = Number(query.get('limit') ?? matching.length)
    const items = matching.slice(start, start + limit)
    const metadata = {
      resourceVersion: String(this.store.version),
      ...(start + limit < matching.length && { continue: String(start + limit) }),
    }
    return { apiVersion: 'v1', kind: 'List', metadata, items }
  }
}

/** meta.v1 Status */
export function refusalBody({ status: code, reason, message }: Refused): unknown {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }
}

/** The user: not a ServiceAccount, without objects. Nothing is stored, and the request does not count as a write. */
export const REVIEWS = 'selfsubjectreviews.authentication.k8s.io'
const USER = { username: 'test' }

export interface Target {
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly isStatus: boolean
}

const PATH = /^(?:\/api\/v1|\/apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([a-z]+)(?:\/([^/]+))?(\/status)?$/

function targetOf(path: string): Target | undefined {
  const [, group, namespace, plural, name, status] = PATH.exec(path) ?? []
  if (plural === undefined) return undefined
  const resource = group === undefined ? plural : `${plural}.${group}`
  return { resource, namespace, name, isStatus: status !== undefined }
}

function placed(object: FakeObject, namespace: string | undefined): FakeObject {
  return { ...object, metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) } }
}

/** An object that begins or ceases to match a selector is reported as added or deleted. */
function send({ event, resource, match }: Watch, change: Change): void {
  if (resource !== change.resource) return
  const [was, is] = [change.before !== undefined && match(change.before), match(change.object)]
  const isGone = change.type === 'DELETED' || !is
  if (isGone && !was) return
  const type = isGone ? 'DELETED' : was ? 'MODIFIED' : 'ADDED'
  event({ type, object: change.object })
}
