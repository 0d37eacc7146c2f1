// CEL's optional value: what `a.?b` gives. Present or not; null is a present value.

export class CelOptional {
  readonly isPresent: boolean
  readonly value: unknown

  constructor(isPresent: boolean, value: unknown) {
    this.isPresent = isPresent
    this.value = value
  }

  static readonly none = new CelOptional(false, undefined)

  static of(value: unknown): CelOptional {
    return new CelOptional(true, value)
  }
}
