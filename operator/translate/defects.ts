// Defects of the translation itself. A defect affects only the object that was translated: the log gets its cause, and
// the status reports an internal error. Values that the schema would reject (an older CRD, a manifest that was not
// validated) can cause an exception as well: then the status reports a malformed object.
import { createHash } from 'node:crypto'
import { type FieldPath, INTERNAL_ERROR } from '#api/problem.ts'
import { isWithin } from '#api/validate/understood.ts'
import { validateObject } from '#api/validate/validate.ts'
import type { KubeObject } from './kube.ts'
import { type ObjectRef, refOf } from './object-ref.ts'

export interface Defect {
  /** Part of the status and of the log line. */
  readonly id: string
  readonly object: ObjectRef
  readonly path: FieldPath
  /** Stack of the error, with its name and, if it is safe, its message. */
  readonly stack: string
}

/** What was being translated. */
export interface Translated {
  readonly object: KubeObject
  readonly path: FieldPath
  /** As users call it: `traffic.csrf`, `the route`. */
  readonly what: string
}

/** A problem without its place. */
export interface Caught {
  readonly reason: typeof MALFORMED | typeof INTERNAL_ERROR
  readonly message: string
}

export const MALFORMED = 'Malformed'

const ID_LENGTH = 8
/** Between two calls of `take`. Older ones are dropped. */
const DEFECTS_MAX = 1000

export class Defects {
  #found: Defect[] = []

  /** Since the last call. */
  take(): readonly Defect[] {
    const found = this.#found
    this.#found = []
    return found
  }

  /** Runs `translate`. After an exception `broken` returns the result, which must fail closed. */
  guarded<T>(translated: Translated, translate: () => T, broken: (caught: Caught) => T): T {
    try {
      return translate()
    } catch (error) {
      return broken(this.caught(error, translated))
    }
  }

  caught(error: unknown, { object, path, what }: Translated): Caught {
    if (!isAsCrdsWant(object, path)) {
      return { reason: MALFORMED, message: `${what} does not match the CRD of this version` }
    }
    const id = this.note(error, refOf(object), path)
    const cure = `report it with the line of the controller's log that contains ${id}`
    return {
      reason: INTERNAL_ERROR,
      message: `${what}: internal error ${id} of the controller, the object itself is valid; ${cure}`,
    }
  }

  /** Returns the id. It is the same for the same error of the same object in every replica. */
  note(error: unknown, object: ObjectRef, path: FieldPath): string {
    const stack = stackOf(error)
    const { kind, namespace, name } = object
    const id = createHash('sha256')
      .update(JSON.stringify([kind, namespace, name, path, stack]))
      .digest('hex')
    if (this.#found.length >= DEFECTS_MAX) this.#found.shift()
    this.#found.push({ id: id.slice(0, ID_LENGTH), object, path, stack })
    return id.slice(0, ID_LENGTH)
  }
}

/** Whether the part of the object at `path` is valid. */
function isAsCrdsWant(object: KubeObject, path: FieldPath): boolean {
  return !validateObject(object).problems.some((one) => one.severity === 'error' && isWithin(one.path, path))
}

/** Without the message of a SyntaxError: it quotes the input, which may be a secret. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown: ${typeof error}`
  const { name, message, stack = '' } = error
  const frames = stack.split('\n').filter((line) => /^ +at /.test(line))
  return [error instanceof SyntaxError ? name : `${name}: ${message}`, ...frames].join('\n')
}
