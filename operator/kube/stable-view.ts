// An object as translation sees it: the same object while only its status changes. Translation keeps results by object
// identity, and every status write of the operator comes back as a change.
import { type ListChange, noteChanges, withChanges } from '#api/incremental/list-change.ts'
import type { KubeObject } from '../translate/kube.ts'
import { statusOf } from './status-of.ts'

/** Translation computes nothing from the status of these kinds; it only looks for our entries. */
export const LIVE_STATUS: ReadonlySet<string> = new Set([
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'BackendTLSPolicy',
  'GwBackend',
  'GwPolicy',
  'GwModel',
  'InferencePool',
])

/** A copy whose status is replaced in place: an accessor of its own for each object would take half a KiB. */
interface View extends KubeObject {
  status: unknown
}

/** Objects of other kinds are their own view. */
function viewOf(object: KubeObject): KubeObject {
  if (!LIVE_STATUS.has(object.kind)) return object
  const view: View = { ...object, status: statusOf(object) }
  return view
}

/** False: the change has to be seen. */
function keeps(view: KubeObject, after: KubeObject): boolean {
  if (!LIVE_STATUS.has(after.kind)) return false
  // Made by viewOf: its kind is the same.
  ;(view as View).status = statusOf(after)
  return true
}

/** With more of them at once the list is rebuilt. */
const PENDING_MAX = 64

interface PendingChange {
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
}

/** The views of all objects of a kind, as a list that is updated with changed objects. */
export class StableViews {
  readonly #views = new Map<string, KubeObject>()
  /** undefined: must be rebuilt. */
  #list: readonly KubeObject[] | undefined = []
  /** Changes not yet applied to the list. */
  #pending: PendingChange[] = []

  /** The same list while no view changes. */
  all(): readonly KubeObject[] {
    this.#list = this.#list === undefined ? [...this.#views.values()] : this.#carriedOn(this.#list)
    this.#pending = []
    return this.#list
  }

  /** undefined: it is gone. */
  set(key: string, after: KubeObject | undefined, isStatusOnly: boolean): void {
    const known = this.#views.get(key)
    if (after !== undefined && isStatusOnly && known !== undefined && keeps(known, after)) return
    const view = after && viewOf(after)
    if (view === undefined) this.#views.delete(key)
    else this.#views.set(key, view)
    if (this.#list === undefined) return
    this.#pending.push({ before: known, after: view })
    if (this.#pending.length > PENDING_MAX) this.#list = undefined
  }

  #carriedOn(list: readonly KubeObject[]): readonly KubeObject[] {
    if (this.#pending.length === 0) return list
    const changes = changesOf(list, this.#pending)
    if (changes !== undefined) {
      const now = withChanges(list, changes)
      noteChanges(list, now, changes)
      return now
    }
    const copy = [...list]
    for (const { before, after } of this.#pending) {
      const place = before === undefined ? -1 : copy.indexOf(before)
      if (place === -1 && after !== undefined) copy.push(after)
      else if (place !== -1) copy.splice(place, 1, ...(after === undefined ? [] : [after]))
    }
    return copy
  }
}

/** undefined: some object changed twice, so that its first version is not in the list. */
function changesOf(
  list: readonly KubeObject[],
  pending: readonly PendingChange[],
): readonly ListChange<KubeObject>[] | undefined {
  const replaced: ListChange<KubeObject>[] = []
  const come: KubeObject[] = []
  for (const { before, after } of pending) {
    const added = after === undefined ? [] : [after]
    if (before === undefined) {
      come.push(...added)
      continue
    }
    const at = list.indexOf(before)
    if (at === -1) return undefined
    replaced.push({ at, removed: [before], added })
  }
  replaced.sort((a, b) => a.at - b.at)
  return come.length === 0 ? replaced : [...replaced, { at: list.length, removed: [], added: come }]
}
