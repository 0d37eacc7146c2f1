// Kubernetes quantities in CEL rules: exact arithmetic in billionths, as fine as the API server stores them.
import type { Environment } from '@marcbachmann/cel-js'

const NANO = 1_000_000_000n

/** Longer texts are not quantities; without a bound an exponent could fill the memory. */
const EXPONENT_MAX = 40
const LENGTH_MAX = 100

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([A-Za-z]*))$/

const SCALES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  n: [1n, NANO],
  u: [1n, 1_000_000n],
  m: [1n, 1000n],
  '': [1n, 1n],
  k: [1000n, 1n],
  M: [1000n ** 2n, 1n],
  G: [1000n ** 3n, 1n],
  T: [1000n ** 4n, 1n],
  P: [1000n ** 5n, 1n],
  E: [1000n ** 6n, 1n],
  Ki: [1024n, 1n],
  Mi: [1024n ** 2n, 1n],
  Gi: [1024n ** 3n, 1n],
  Ti: [1024n ** 4n, 1n],
  Pi: [1024n ** 5n, 1n],
  Ei: [1024n ** 6n, 1n],
}

export class Quantity {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }

  /** Absent: not a quantity. */
  static parse(text: string): Quantity | undefined {
    if (text.length > LENGTH_MAX) return undefined
    const groups = (QUANTITY.exec(text) ?? []).slice(1).map((group: string | undefined) => group ?? '')
    const [sign, whole = '', fraction = '', exponent, suffix = ''] = groups
    const power = Number(exponent)
    const scale = Object.hasOwn(SCALES, suffix) ? SCALES[suffix] : undefined
    if (whole + fraction === '' || scale === undefined || Math.abs(power) > EXPONENT_MAX) return undefined
    const up = scale[0] * 10n ** BigInt(Math.max(power, 0))
    const down = scale[1] * 10n ** BigInt(fraction.length + Math.max(-power, 0))
    // What is finer than a billionth is rounded away from zero.
    const nanos = (BigInt(whole + fraction) * up * NANO + down - 1n) / down
    return new Quantity(sign === '-' ? -nanos : nanos)
  }

  isInteger(): boolean {
    return this.nanos % NANO === 0n && BigInt.asIntN(64, this.nanos / NANO) === this.nanos / NANO
  }

  compareTo(other: Quantity): bigint {
    return this.nanos < other.nanos ? -1n : this.nanos > other.nanos ? 1n : 0n
  }
}

export function registerQuantities(environment: Environment): void {
  environment
    .registerType('Quantity', Quantity)
    .registerOperator('Quantity == Quantity', (left: Quantity, right: Quantity) => left.nanos === right.nanos)
    .registerFunction('isQuantity(string): bool', (text: string) => Quantity.parse(text) !== undefined)
    .registerFunction('quantity(string): Quantity', parsed)
    .registerFunction('Quantity.isInteger(): bool', (value: Quantity) => value.isInteger())
    .registerFunction('Quantity.asInteger(): int', (value: Quantity) => {
      if (!value.isInteger()) throw new RangeError('the quantity is not an integer')
      return value.nanos / NANO
    })
    .registerFunction('Quantity.asApproximateFloat(): double', (value: Quantity) => Number(value.nanos) / Number(NANO))
    .registerFunction('Quantity.compareTo(Quantity): int', (left: Quantity, right: Quantity) => left.compareTo(right))
    .registerFunction(
      'Quantity.isLessThan(Quantity): bool',
      (left: Quantity, right: Quantity) => left.nanos < right.nanos,
    )
    .registerFunction('Quantity.isGreaterThan(Quantity): bool', (left: Quantity, right: Quantity) => {
      return left.nanos > right.nanos
    })
    .registerFunction('Quantity.add(Quantity): Quantity', (left: Quantity, right: Quantity) => {
      return new Quantity(left.nanos + right.nanos)
    })
    .registerFunction('Quantity.sub(Quantity): Quantity', (left: Quantity, right: Quantity) => {
      return new Quantity(left.nanos - right.nanos)
    })
}

function parsed(text: string): Quantity {
  const value = Quantity.parse(text)
  if (value === undefined) throw new RangeError('not a quantity')
  return value
}
