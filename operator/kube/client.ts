// The calls to the API server as effects with a closed set of errors. No retries here: the callers decide about them.
import type { KubeConfig } from '@kubernetes/client-node'
import { Context, Effect, Layer } from 'effect'
import type { KubeObject } from '../translate/kube.ts'
import { KubeConflict, type KubeError, KubeExpired, KubeNotFound, KubeRefused, KubeUnreachable } from './errors.ts'
import { apiVersionOf, collectionPath, objectPath, type Resource } from './resources.ts'
import { createTransport, type KubeRequest, type KubeResponse, type KubeWrite, type Transport } from './transport.ts'

export interface ListOptions {
  /** Unset: all of the cluster. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Returns only metadata: for callers that need only the version. */
  readonly isMetadataOnly?: boolean
}

export interface ListPage {
  readonly items: readonly unknown[]
  readonly resourceVersion: string
  readonly next: string | undefined
}

export interface WatchOptions extends ListOptions {
  /** undefined: the current objects come first, as ADDED; a bookmark for which `endsInitial` is true follows them. */
  readonly from: string | undefined
  readonly seconds: number
  /** The server has accepted the watch: from now on no change is missed. */
  readonly onOpen: () => void
}

export interface WatchEvent {
  readonly type: string
  readonly object: unknown
}

export class KubeClient extends Context.Service<
  KubeClient,
  {
    get(resource: Resource, namespace: string, name: string): Effect.Effect<KubeObject, KubeError>
    list(resource: Resource, options: ListOptions, next?: string): Effect.Effect<ListPage, KubeError>
    /** Ends when the server ends it; KubeExpired when the version is too old. */
    watch(
      resource: Resource,
      options: WatchOptions,
      onEvent: (event: WatchEvent) => void,
    ): Effect.Effect<void, KubeError>
    /** Server-side apply, forced. */
    apply(object: KubeObject, resource: Resource, manager: string): Effect.Effect<KubeObject, KubeError>
    /** The response that `apply` would get; nothing is written. */
    tryApply(object: KubeObject, resource: Resource, manager: string): Effect.Effect<KubeObject, KubeError>
    create(object: KubeObject, resource: Resource, manager: string): Effect.Effect<KubeObject, KubeError>
    /**
     * With a resourceVersion the server rejects it after a write of another client. The response for a ConfigMap is its
     * metadata: the rest is the content of the request, and may be long.
     */
    replace(object: KubeObject, resource: Resource, manager: string): Effect.Effect<KubeObject, KubeError>
    /** JSON merge patch of an object or of its status. */
    patch(target: PatchTarget, body: unknown): Effect.Effect<KubeObject, KubeError>
    remove(resource: Resource, namespace: string, name: string): Effect.Effect<void, KubeError>
    /** A document that is not an object: `/openapi/v3` and the paths below it. */
    document(path: string): Effect.Effect<unknown, KubeError>
  }
>()('gw/operator/kube/KubeClient') {
  /** Calls `onWrite` for every write. */
  static readonly layer = (config: KubeConfig, onWrite: (write: KubeWrite) => void): Layer.Layer<KubeClient> =>
    Layer.effect(
      KubeClient,
      Effect.acquireRelease(
        Effect.sync(() => createTransport(config, onWrite)),
        (transport) => Effect.sync(() => transport.close()),
      ).pipe(Effect.map(clientOf)),
    )

  /** For tests: any transport. */
  static readonly layerOf = (transport: Transport): Layer.Layer<KubeClient> =>
    Layer.succeed(KubeClient, clientOf(transport))
}

export interface PatchTarget {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
  readonly isStatus: boolean
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

const PAGE_ITEMS = 500
/** Servers without streamed lists reject it, those before Kubernetes 1.27 because of the second parameter. */
const INITIAL_EVENTS = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
const INITIAL_END = 'k8s.io/initial-events-end'
/** Without an end at the requested time, the connection counts as lost. */
const IDLE_RESERVE_MS = 15_000

/** Kinds that this server has only in an older version are read in that version, and returned as the newer one. */
class Versions {
  readonly #served = new Map<string, string>()

  /** As in paths. */
  of(resource: Resource): Resource {
    const version = this.#served.get(keyOf(resource))
    return version === undefined ? resource : { ...resource, version }
  }

  /** The newest one that `ask` finds; each list looks for the version of its kind again. */
  find<A>(resource: Resource, ask: (resource: Resource) => Effect.Effect<A, KubeError>): Effect.Effect<A, KubeError> {
    const candidates = [resource.version, ...(resource.older ?? [])].map((version) => ({ ...resource, version }))
    const [first, ...others] = candidates.map((one) =>
      Effect.tap(ask(one), () => Effect.sync(() => this.#served.set(keyOf(resource), one.version))),
    )
    return first === undefined
      ? ask(resource)
      : others.reduce((found, next) => Effect.catchTag(found, 'KubeNotFound', () => next), first)
  }
}

function keyOf({ group, plural }: Resource): string {
  return `${group}/${plural}`
}

function clientOf(transport: Transport): KubeClient['Service'] {
  const versions = new Versions()
  const send = (request: KubeRequest): Effect.Effect<KubeObject, KubeError> =>
    Effect.tryPromise({
      try: (signal) => transport.send(request, signal),
      catch: (cause) => new KubeUnreachable({ method: request.method, path: request.path, cause }),
    }).pipe(Effect.flatMap((response) => bodyOf(request, response)))
  const pathOf = (resource: Resource, namespace: string, name: string): string =>
    objectPath(versions.of(resource), namespace, name)
  return KubeClient.of({
    get: (resource, namespace, name) =>
      Effect.map(send({ method: 'GET', path: pathOf(resource, namespace, name) }), inOurVersion(resource)),
    list: (resource, { isMetadataOnly = false, namespace = '', ...selectors }, next) => {
      const query = queryOf({ ...selectors, limit: String(PAGE_ITEMS), ...(next !== undefined && { continue: next }) })
      const accept = isMetadataOnly ? { accept: METADATA_LIST } : {}
      const ask = (served: Resource): Effect.Effect<KubeObject, KubeError> =>
        send({ method: 'GET', path: `${collectionPath(served, namespace)}?${query}`, ...accept })
      const found = next === undefined ? versions.find(resource, ask) : ask(versions.of(resource))
      return Effect.map(found, (body) => pageOf(body, resource))
    },
    watch: (resource, options, onEvent) =>
      Effect.suspend(() => watch(transport, versions.of(resource), options, onEvent)),
    apply: (object, resource, manager) => send(applyRequest(object, resource, { fieldManager: manager })),
    tryApply: (object, resource, manager) =>
      send(applyRequest(object, resource, { fieldManager: manager, dryRun: 'All' })),
    create: (object, resource, manager) => {
      const path = `${collectionPath(resource, object.metadata.namespace ?? '')}?${queryOf({ fieldManager: manager })}`
      return send({ method: 'POST', path, body: object, target: object.kind })
    },
    replace: (object, resource, manager) => {
      const { namespace = '', name } = object.metadata
      const path = `${objectPath(resource, namespace, name)}?${queryOf({ fieldManager: manager })}`
      const accept = resource.kind === 'ConfigMap' ? { accept: METADATA } : {}
      return send({ method: 'PUT', path, body: object, target: object.kind, ...accept })
    },
    patch: ({ resource, namespace, name, isStatus }, body) => {
      const part = isStatus ? '/status' : ''
      const path = pathOf(resource, namespace, name) + part
      const target = resource.kind + part
      const sent = send({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json', target })
      return Effect.map(sent, inOurVersion(resource))
    },
    remove: (resource, namespace, name) =>
      Effect.asVoid(send({ method: 'DELETE', path: objectPath(resource, namespace, name), target: resource.kind })),
    document: (path) => send({ method: 'GET', path }),
  })
}

function applyRequest(object: KubeObject, resource: Resource, options: Readonly<Record<string, string>>): KubeRequest {
  const { namespace = '', name } = object.metadata
  return {
    method: 'PATCH',
    path: `${objectPath(resource, namespace, name)}?${queryOf({ ...options, force: 'true' })}`,
    body: object,
    contentType: 'application/apply-patch+yaml',
    target: object.kind,
  }
}

/** Objects of an older version have the same fields. */
function inOurVersion(resource: Resource): (object: KubeObject) => KubeObject {
  return resource.older === undefined
    ? (object) => object
    : (object) => ({ ...object, apiVersion: apiVersionOf(resource) })
}

function watch(
  transport: Transport,
  resource: Resource,
  { from, seconds, onOpen, isMetadataOnly = false, namespace = '', ...selectors }: WatchOptions,
  onEvent: (event: WatchEvent) => void,
): Effect.Effect<void, KubeError> {
  const query = queryOf({
    ...selectors,
    watch: '1',
    allowWatchBookmarks: 'true',
    ...(from === undefined ? INITIAL_EVENTS : { resourceVersion: from }),
    timeoutSeconds: String(seconds),
  })
  const path = `${collectionPath(resource, namespace)}?${query}`
  return Effect.tryPromise({
    try: (signal) =>
      transport.stream(
        { method: 'GET', path, ...(isMetadataOnly && { accept: METADATA }) },
        // Lines of a watch have this form; any other line is an event of type ''.
        (event) => onEvent({ type: '', object: undefined, ...(event as WatchEvent | undefined) }),
        { signal, idleMs: seconds * 1000 + IDLE_RESERVE_MS, onOpen },
      ),
    catch: (cause) => new KubeUnreachable({ method: 'WATCH', path, cause }),
  }).pipe(
    Effect.flatMap((response) =>
      response.status === 200 ? Effect.void : Effect.fail(refusalOf({ method: 'GET', path }, response)),
    ),
  )
}

/** All objects that existed when the watch began have been sent. */
export function endsInitial({ type, object }: WatchEvent): boolean {
  if (type !== 'BOOKMARK') return false
  // meta.v1 metadata.
  const { metadata } = { ...(object as { metadata?: { annotations?: Readonly<Record<string, string>> } } | undefined) }
  return metadata?.annotations?.[INITIAL_END] === 'true'
}

function queryOf(values: Readonly<Record<string, string>>): string {
  return new URLSearchParams(values).toString()
}

function bodyOf(request: KubeRequest, response: KubeResponse): Effect.Effect<KubeObject, KubeError> {
  if (response.status >= 200 && response.status < 300) {
    // The response of the API server to a successful request is an object.
    return Effect.succeed(response.body as KubeObject)
  }
  return Effect.fail(refusalOf(request, response))
}

function refusalOf({ method, path }: KubeRequest, { status, body, retryAfterMs }: KubeResponse): KubeError {
  // meta.v1 Status, or nothing.
  const { reason = '', message = '' } = { ...(body as { reason?: string; message?: string } | undefined) }
  if (status === 404) return new KubeNotFound({ path })
  if (status === 409) return new KubeConflict({ path, reason, message })
  if (status === 410) return new KubeExpired({ path })
  return new KubeRefused({ method, path, status, reason, message, retryAfterMs })
}

/** Items of a list have no kind, or that of metadata: it is restored. */
function pageOf(body: unknown, resource: Resource): ListPage {
  // meta.v1 List.
  const { items, metadata } = body as { items?: object[]; metadata?: { resourceVersion?: string; continue?: string } }
  const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  return {
    items: (items ?? []).map((item) => ({ ...item, ...kind })),
    resourceVersion: metadata?.resourceVersion ?? '',
    next: metadata?.continue === undefined || metadata.continue === '' ? undefined : metadata.continue,
  }
}
