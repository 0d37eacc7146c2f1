// A string that shows itself as `<redacted>` wherever it is printed, compared or encoded. Only `.unredacted()` reveals
// it.
import { REDACTED } from '#api/credentials/sensitive-headers.ts'

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
