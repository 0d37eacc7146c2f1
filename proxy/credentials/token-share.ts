// The side of a worker: asks the main thread for a token, and reports what it fetched itself.
import type { TokenAnswer, TokenMessage, TokenOutcome, TokenRefused, TokenReply, WantedToken } from './shared-tokens.ts'

type Resolve = (answer: TokenAnswer) => void
type OnRefused = (kind: string, key: string, id: string) => void

export class TokenShare {
  readonly #waiting = new Map<string, readonly Resolve[]>()
  readonly #send: (message: TokenMessage) => void
  #onRefused: OnRefused | undefined = undefined

  constructor(send: (message: TokenMessage) => void) {
    this.#send = send
  }

  /**
   * @param key the kind of the source, a space, and its key
   * @param signal resolves to `Fetch` when it aborts: a main thread that does not answer delays no request
   */
  claim(key: string, wanted: WantedToken, signal: AbortSignal): Promise<TokenAnswer> {
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
      this.#send({ type: 'tokenClaimed', key, ...wanted })
    })
  }

  fetched(key: string, outcome: TokenOutcome): void {
    this.#send({ type: 'tokenFetched', key, outcome })
  }

  refused(key: string, id: string): void {
    this.#send({ type: 'tokenRefused', key, id })
  }

  /** Called when a peer of another worker refused a token. */
  onRefused(listener: OnRefused): void {
    this.#onRefused = listener
  }

  receive(message: TokenReply | TokenRefused): void {
    if (message.type === 'token') this.#answered(message)
    else {
      const at = message.key.indexOf(' ')
      this.#onRefused?.(message.key.slice(0, at), message.key.slice(at + 1), message.id)
    }
  }

  #answered({ key, answer }: TokenReply): void {
    const waiting = this.#waiting.get(key) ?? []
    this.#waiting.delete(key)
    for (const resolve of waiting) resolve(answer)
  }
}
