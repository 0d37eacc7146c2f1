// The side of a worker: asks the main thread for a token, and reports what it fetched itself.
import type { TokenAnswer, TokenMessage, TokenOutcome, TokenReply } from './shared-tokens.ts'

type Resolve = (answer: TokenAnswer) => void

export class TokenShare {
  readonly #waiting = new Map<string, readonly Resolve[]>()
  readonly #send: (message: TokenMessage) => void

  constructor(send: (message: TokenMessage) => void) {
    this.#send = send
  }

  /**
   * @param afterMs only a token that ends later is of use, Unix time in milliseconds
   * @param signal resolves to `Fetch` when it aborts: a main thread that does not answer delays no request
   */
  claim(key: string, afterMs: number, signal: AbortSignal): Promise<TokenAnswer> {
    return new Promise((resolve) => {
      const finish: Resolve = (answer) => {
        signal.removeEventListener('abort', onAbort)
        resolve(answer)
      }
      const onAbort = (): void => {
        const others = (this.#waiting.get(key) ?? []).filter((each) => each !== finish)
        if (others.length === 0) this.#waiting.delete(key)
        else this.#waiting.set(key, others)
        finish('Fetch')
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), finish])
      this.#send({ type: 'tokenClaimed', key, afterMs })
    })
  }

  fetched(key: string, outcome: TokenOutcome): void {
    this.#send({ type: 'tokenFetched', key, outcome })
  }

  receive({ key, answer }: TokenReply): void {
    const waiting = this.#waiting.get(key) ?? []
    this.#waiting.delete(key)
    for (const resolve of waiting) resolve(answer)
  }
}
