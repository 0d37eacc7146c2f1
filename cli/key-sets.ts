// The key sets that `gw run` fetches for its configuration. Loads the fetcher only when a configuration needs one.
import { printable } from '#api/printable.ts'
import type { RunningFetcher } from '#operator/jwks/start-fetcher.ts'
import type { OwnedRequest } from '#operator/jwks/requests.ts'
import type { RunReport } from './run-report.ts'
import type { StoredKeys } from './source.ts'

export class KeySets {
  readonly #report: RunReport
  readonly #changed: () => void
  /** Set while `firstAnswers` waits; its caller loads the configuration afterwards anyway. */
  #onAnswer: ((url: string) => void) | undefined = undefined
  #fetcher: Promise<RunningFetcher> | undefined = undefined
  #running: RunningFetcher | undefined = undefined

  /** @param changed called for new keys: the configuration must be built again */
  constructor(report: RunReport, changed: () => void) {
    this.#report = report
    this.#changed = changed
  }

  get stored(): StoredKeys {
    return this.#running?.stored() ?? []
  }

  async follow(requests: readonly OwnedRequest[]): Promise<void> {
    if (requests.length === 0 && this.#fetcher === undefined) return
    this.#fetcher ??= this.#start()
    this.#running = await this.#fetcher
    await this.#running.setRequests(requests)
  }

  /** As `follow`, then waits until each key set was fetched or failed once, or until the time is over. */
  async firstAnswers(requests: readonly OwnedRequest[], timeoutMs: number): Promise<void> {
    const missing = new Set(requests.map(({ url }) => url))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onAnswer = (url) => {
      missing.delete(url)
      if (missing.size === 0) resolve()
    }
    await this.follow(requests)
    // After the fetcher was loaded, which can take longer than an answer.
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    this.#onAnswer = undefined
  }

  refresh(source: string): void {
    this.#running?.refresh(source)
  }

  async close(): Promise<void> {
    await (await this.#fetcher)?.close()
  }

  async #start(): Promise<RunningFetcher> {
    const { startFetcher } = await import('#operator/jwks/start-fetcher.ts')
    return startFetcher({
      changed: (url, warnings) => {
        this.#report.info(`fetched the keys of ${printable(url)}`)
        for (const warning of warnings) this.#report.warn(`keys of ${printable(url)}: ${warning}`)
        if (this.#onAnswer === undefined) this.#changed()
        else this.#onAnswer(url)
      },
      failed: (url, detail) => {
        this.#report.warn(`cannot fetch the keys of ${printable(url)}: ${printable(detail)}; will retry`)
        this.#onAnswer?.(url)
      },
    })
  }
}
