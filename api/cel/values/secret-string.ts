// A string that shows itself as `<redacted>` wherever it is printed, compared or encoded. Only `.unredacted()` reveals
// it.

export const REDACTED = '<redacted>'

export class SecretString {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  unredacted(): string {
    return this.#secret
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED
  }
}
