// Follows one object of the API server by its name: lists, then watches from there, while the process runs.
// Reports the object, and does not depend on its meaning.
import type { Logger } from '../../log/logger.ts'
import { BackOff } from './back-off.ts'
import type { KubeClient } from './kube-client.ts'

export interface WatchedObject {
  readonly client: KubeClient
  /** `/api/v1/namespaces/shop/configmaps` */
  readonly collection: string
  readonly name: string
  readonly logger: Logger
  readonly signal: AbortSignal
  /** undefined: the object does not exist. Called after every (re)list and for every change. */
  readonly onObject: (object: unknown) => void
}

/** The server ends a watch after this long, with jitter of one half; the next watch continues from there. */
const WATCH_SECONDS = 60
const IDLE_RESERVE_MS = 15_000
const RETRY = { firstMs: 100, maxMs: 5000 }
const GONE = 410

export async function watchObject(watched: WatchedObject): Promise<void> {
  const backOff = new BackOff(RETRY)
  let version: string | undefined = undefined
  while (!watched.signal.aborted) {
    try {
      version = version === undefined ? await list(watched) : await watch(watched, version)
      backOff.reset()
    } catch (error) {
      if (watched.signal.aborted) return
      const text = error instanceof Error ? error.message : String(error)
      watched.logger.warn('watch of the API server failed, retrying', { name: watched.name, error: text })
      if (!(await backOff.wait(watched.signal))) return
    }
  }
}

async function list({ client, collection, name, signal, onObject }: WatchedObject): Promise<string> {
  const { status, body } = await client.get(`${collection}?${selector(name)}`, signal)
  if (status !== 200) throw new Error(`list: status ${status}`)
  const items = field(body, 'items')
  const version = field(field(body, 'metadata'), 'resourceVersion')
  if (!Array.isArray(items) || typeof version !== 'string') throw new Error('the response is not a list')
  onObject(items[0])
  return version
}

/** The version to continue from; undefined if the server no longer has it, and a new list is needed. */
async function watch(watched: WatchedObject, from: string): Promise<string | undefined> {
  const { client, collection, name, signal, onObject } = watched
  const seconds = Math.ceil(WATCH_SECONDS * (1 + Math.random()))
  const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${from}&${selector(name)}`
  let version: string | undefined = from
  const status = await client.watch(
    `${collection}?${query}`,
    (event) => {
      const [type, object] = [field(event, 'type'), field(event, 'object')]
      const seen = field(field(object, 'metadata'), 'resourceVersion')
      if (type === 'ERROR') version = undefined
      else if (version !== undefined && typeof seen === 'string') version = seen
      if (type === 'ADDED' || type === 'MODIFIED') onObject(object)
      else if (type === 'DELETED') onObject(undefined)
    },
    { signal, idleMs: seconds * 1000 + IDLE_RESERVE_MS },
  )
  if (status === GONE) return undefined
  if (status !== 200) throw new Error(`watch: status ${status}`)
  return version
}

function selector(name: string): string {
  return `fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`
}

export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  // hasOwn above.
  return (value as Record<string, unknown>)[name]
}
