// The state of one evaluation: variables, local slots, and the budget that bounds its work. Never reused between
// evaluations.
import { BudgetExceeded, type CelVariables } from '../expression.ts'
import { QueryString } from '../values/query-string.ts'
import { quietly } from './errors.ts'

/**
 * Node evaluations (and their equivalent in copied data) one evaluation may spend: some tens of milliseconds at worst.
 */
export const EVALUATION_STEPS_MAX = 1_000_000

/** Characters or bytes of one string or bytes value that an expression may build. Values passed in may be larger. */
export const VALUE_LENGTH_MAX = 16 * 1024 * 1024

/** Elements of one list or map that an expression may build. */
const VALUE_ELEMENTS_MAX = 100_000

/** A compiled node. */
export type Thunk = (frame: Frame) => unknown

export class Frame {
  readonly variables: CelVariables
  readonly locals: unknown[] = []
  #stepsLeft: number

  constructor(variables: CelVariables, stepsMax: number = EVALUATION_STEPS_MAX) {
    this.variables = variables
    this.#stepsLeft = stepsMax
  }

  /** Negative: the budget is exceeded. */
  get stepsLeft(): number {
    return this.#stepsLeft
  }

  /** @throws {BudgetExceeded}, which no operator absorbs. */
  charge(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) throw quietly(() => new BudgetExceeded('evaluation takes too many steps'))
  }

  /** Charges for the work a function does on that value: proportional to its size, nothing for small ones. */
  chargeFor(value: unknown): void {
    if (typeof value === 'string') {
      if (value.length > 256) this.charge(value.length >>> 6)
    } else if (typeof value === 'object' && value !== null) {
      if (Array.isArray(value)) this.charge(value.length >>> 3)
      else if (value instanceof Uint8Array) this.charge(value.length >>> 6)
      else if (value instanceof Map) this.charge(value.size >>> 3)
      else if (value instanceof QueryString) this.chargeFor(value.text)
    }
  }
}

/** No such variable in this evaluation. */
export function isAbsent({ variables }: Frame, name: string): boolean {
  if (name in Object.prototype) return true
  const value = variables[name]
  return value === undefined || typeof value === 'function'
}

export function checkLength(length: number): void {
  if (length > VALUE_LENGTH_MAX) throw quietly(() => new BudgetExceeded('value grows beyond the limit'))
}

export function checkElements(count: number): void {
  if (count > VALUE_ELEMENTS_MAX) throw quietly(() => new BudgetExceeded('list or map grows beyond the limit'))
}
