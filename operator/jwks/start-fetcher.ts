// The fetcher for a process without a cluster, as `gw run`: keys stay in memory. The caller does not need Effect.
import { Effect, Exit, Layer, Scope } from 'effect'
import type { StoredKeySet } from '../translate/policy/stored-key-sets.ts'
import { localRule } from './address-rule.ts'
import { makeJwksFetcher } from './fetcher.ts'
import { JwksHttp } from './http.ts'
import type { OwnedRequest } from './requests.ts'
import { memoryJwksStore } from './store.ts'

export interface RunningFetcher {
  setRequests(requests: readonly OwnedRequest[]): Promise<void>
  /** A token names a key that is not in the set of this request. */
  refresh(requestKey: string): void
  stored(): readonly StoredKeySet[]
  close(): Promise<void>
}

export interface FetcherEvents {
  /** There are new keys. `warnings`: see FetchEvents. */
  readonly changed: (url: string, warnings: readonly string[]) => void
  readonly failed: (url: string, detail: string) => void
}

export async function startFetcher({ changed, failed }: FetcherEvents): Promise<RunningFetcher> {
  const entries = new Map<string, StoredKeySet>()
  const scope = Effect.runSync(Scope.make())
  const fetcher = await makeJwksFetcher({
    stored: ({ url }, warnings) => Effect.sync(() => changed(url, warnings)),
    failed: ({ detail }, { url }) => Effect.sync(() => failed(url, detail)),
  }).pipe(
    Effect.provide(Layer.merge(memoryJwksStore(entries), JwksHttp.layer(localRule))),
    Scope.provide(scope),
    Effect.runPromise,
  )
  return {
    setRequests: (requests) => Effect.runPromise(fetcher.setRequests(requests)),
    refresh: (requestKey) => void Effect.runFork(fetcher.refresh(requestKey)),
    stored: () => [...entries.values()],
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
