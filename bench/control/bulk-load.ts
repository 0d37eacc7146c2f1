// Many objects at once: written into the store of the API server in transactions, as the API server would store them.
// The first one of each collection is created through the API, and gives the others what the API server adds. Two more
// of each collection are compared with what the API makes of the same manifest.
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { RealApiServer } from '../../test/cluster/real-apiserver.ts'
import { until } from '../../test/wait.ts'
import type { KubeManifest } from './cluster.ts'
import { forEachOf } from './rounds.ts'

/** The store accepts 128 operations, and 1.5 MiB. */
const OBJECTS_OF_A_TRANSACTION = 100
const TRANSACTIONS_AT_ONCE = 4
const SEEN_MS_MAX = 60_000

/** An object of any kind, as the API server returns it. */
interface Stored {
  readonly metadata: Readonly<Record<string, unknown>> & { readonly managedFields?: readonly object[] }
  readonly spec?: object
}

/** Throws if a collection has had objects before. */
export async function loadInBulk(server: RealApiServer, manifests: readonly KubeManifest[]): Promise<void> {
  for (const [collection, group] of Map.groupBy(manifests, ({ path }) => collectionOf(path))) {
    const [first, ...others] = group
    if (first === undefined) continue
    const created = await createdBy(server, first)
    const stored = others.map(({ path, object }) => ({ key: keyOf(path), value: storedAs(object, created) }))
    await write(server.store, stored)
    await until(`${collection} has ${group.length} objects`, () => has(server, collection, group.length), SEEN_MS_MAX)
    for (const sample of new Set([others.at(others.length >> 1), others.at(-1)])) {
      if (sample !== undefined) await compare(server, sample)
    }
  }
}

function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

async function createdBy(server: RealApiServer, { path, object }: KubeManifest): Promise<Stored> {
  const { status, body } = await server.send({ method: 'POST', path: collectionOf(path), body: object })
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  // The created object.
  return body as Stored
}

/** The manifest with the fields that the API server has added to another object of its kind. */
function storedAs(manifest: object, created: Stored): object {
  // A manifest.
  const { metadata, spec } = manifest as Stored
  const { creationTimestamp, generation, managedFields } = created.metadata
  const added = { uid: randomUUID(), creationTimestamp, ...(generation !== undefined && { generation }), managedFields }
  return {
    ...created,
    ...manifest,
    metadata: { ...metadata, ...added },
    ...(spec !== undefined && { spec: { ...created.spec, ...spec } }),
  }
}

const BUILT_IN = /^\/api\/v1\/|^\/apis\/discovery\.k8s\.io\//
/** Resources whose place in the store has another name. */
const PLACES: Readonly<Record<string, string>> = { services: 'services/specs' }

/** In the store. Only of resources in namespaces, as in the benchmark. */
function keyOf(path: string): string {
  const [, group = '', namespace, plural = '', name] =
    /^\/apis?\/(?:([^/]+)\/)?v[^/]+\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? []
  if (name === undefined) throw new Error(`${path} is not the path of an object in a namespace`)
  const place = BUILT_IN.test(path) ? (PLACES[plural] ?? plural) : `${group}/${plural}`
  return `/registry/${place}/${namespace}/${name}`
}

interface Entry {
  readonly key: string
  readonly value: object
}

async function write(store: string, entries: readonly Entry[]): Promise<void> {
  const count = Math.ceil(entries.length / OBJECTS_OF_A_TRANSACTION)
  const starts = Array.from({ length: count }, (_, index) => index * OBJECTS_OF_A_TRANSACTION)
  await forEachOf(starts, TRANSACTIONS_AT_ONCE, async (start) => {
    const success = entries.slice(start, start + OBJECTS_OF_A_TRANSACTION).map(({ key, value }) => ({
      requestPut: { key: encoded(key), value: encoded(JSON.stringify(value)) },
    }))
    const response = await fetch(`${store}/v3/kv/txn`, { method: 'POST', body: JSON.stringify({ success }) })
    if (!response.ok) throw new Error(`the store: ${response.status} ${await response.text()}`)
    await response.arrayBuffer()
  })
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** From the cache of the API server, which watches its store. */
async function has(server: RealApiServer, collection: string, count: number): Promise<boolean> {
  const { body } = await server.send({ method: 'GET', path: `${collection}?limit=1` })
  // A list.
  const { items, metadata } = body as { items: readonly object[]; metadata: { remainingItemCount?: number } }
  return items.length + (metadata.remainingItemCount ?? 0) >= count
}

/** Replaces the loaded object by one that the API has created. */
async function compare(server: RealApiServer, manifest: KubeManifest): Promise<void> {
  const { path } = manifest
  const read = async (): Promise<object> => {
    const { status, body } = await server.send({ method: 'GET', path })
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    // Of the kind of the manifest.
    return withoutIdentity(body as Stored)
  }
  const loaded = await read()
  await server.send({ method: 'DELETE', path })
  await createdBy(server, manifest)
  const made = await read()
  if (isDeepStrictEqual(loaded, made)) return
  throw new Error(`${path} was loaded as ${JSON.stringify(loaded)}, the API makes ${JSON.stringify(made)}`)
}

function withoutIdentity({ metadata, ...object }: Stored): object {
  const { managedFields = [], ...others } = metadata
  const own = { ...others, uid: '', resourceVersion: '', creationTimestamp: '' }
  return { ...object, metadata: { ...own, managedFields: managedFields.map((one) => ({ ...one, time: '' })) } }
}
