// The outcome of one try to answer a request, with a promise only where something waits.
import { failByDefect } from '../exchange/defects.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Gets one of both calls, once, which may be before the function that begins the try returns. */
export interface TryOutcome {
  /** `isRefused`: the provider refused the credential, and the request is repeatable. */
  over(isRefused: boolean): void
  /** By a bug. */
  broken(error: unknown): void
}

/** Of a request that gets only one try: its response is sent while the bytes of the provider need no copy. */
export class OnlyTry implements TryOutcome {
  readonly #exchange: Exchange
  readonly #done: (exchange: Exchange) => void
  #isOver = false

  constructor(exchange: Exchange, done: (exchange: Exchange) => void) {
    this.#exchange = exchange
    this.#done = done
  }

  over(): void {
    this.#isOver = true
    this.#done(this.#exchange)
  }

  broken(error: unknown): void {
    // `done` threw it, which is called only once.
    if (this.#isOver) throw error
    failByDefect(this.#exchange, 'llm', error)
    this.over()
  }
}

/** `isRefused` of the try that `begin` begins. */
export function resultOf(begin: (outcome: TryOutcome) => void): Promise<boolean> {
  return new Promise((resolve, reject) => {
    begin({ over: resolve, broken: reject })
  })
}

/** What `next` throws is a bug. */
export function whenReady<T>(waiting: Promise<T>, outcome: TryOutcome, next: (value: T) => void): void {
  waiting.then(next).catch((error: unknown) => outcome.broken(error))
}

export function overWith(isRefused: Promise<boolean>, outcome: TryOutcome): void {
  whenReady(isRefused, outcome, (value) => outcome.over(value))
}
