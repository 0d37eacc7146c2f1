// What all policies that fetch tokens share: where a token endpoint is, and how long tokens are kept.
import type { OAuthTokenCache as RenderedCache } from '#api/ir/types.gen.ts'
import type { OAuthTokenCache } from '#api/v1alpha1/shared.gen.ts'
import { durationMs } from '../duration.ts'

/** Where a policy names no path of its token endpoint. */
export const DEFAULT_TOKEN_PATH = '/'

/** Unset stays unset: the proxy has the defaults. */
export function tokenCacheField(cache: OAuthTokenCache | undefined): { cache?: RenderedCache } {
  const { maxEntries, defaultTtl } = cache?.inMemory ?? {}
  const defaultTtlMs = defaultTtl === undefined ? undefined : durationMs(defaultTtl)
  if (maxEntries === undefined && defaultTtlMs === undefined) return {}
  return {
    cache: {
      ...(maxEntries !== undefined && { entriesMax: maxEntries }),
      ...(defaultTtlMs !== undefined && { defaultTtlMs }),
    },
  }
}
