// The statuses that translation computed, and which of them must be compared with the cluster after a change: of
// thousands of statuses most are the same objects as before, and were compared then.
import type { ObjectStatus } from '../translate/object-status.ts'
import { changesBetween } from '../translate/changes.ts'
import { describe } from '../translate/object-ref.ts'

export class KnownStatuses {
  readonly #byKey = new Map<string, ObjectStatus>()
  /** The same, as translation returned them: equal statuses are the same objects. */
  #translated: readonly ObjectStatus[] = []
  /** A recreated object has lost its status, though the computed status is the same. */
  readonly #changed = new Set<string>()

  get(key: string): ObjectStatus | undefined {
    return this.#byKey.get(key)
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  entries(): Iterable<[string, ObjectStatus]> {
    return this.#byKey
  }

  /** More of the object than its status. */
  objectChanged(key: string): void {
    this.#changed.add(key)
  }

  /** New statuses, statuses of changed objects, and the keys of objects without a status from now on. */
  take(statuses: readonly ObjectStatus[]): { readonly due: ObjectStatus[]; readonly silent: string[] } {
    const edits = changesBetween(this.#translated, statuses)
    const removed = edits?.flatMap((edit) => edit.removed) ?? this.#translated
    const known = edits === undefined ? new Set(this.#translated) : undefined
    const added = edits?.flatMap((edit) => edit.added) ?? statuses
    this.#translated = statuses
    for (const status of removed) this.#byKey.delete(describe(status))
    for (const status of added) {
      this.#byKey.set(describe(status), status)
      if (known?.has(status) !== true) this.#changed.add(describe(status))
    }
    const due = [...this.#changed].map((key) => this.#byKey.get(key)).filter((status) => status !== undefined)
    this.#changed.clear()
    const silent = removed.map(describe).filter((key) => !this.#byKey.has(key))
    return { due, silent }
  }
}
