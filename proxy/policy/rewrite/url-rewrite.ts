// Rewrites host and path of the request before it goes to the backend. The query stays.
import type { UrlRewrite } from '#api/ir/types.gen.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { replacePrefix, setHost, setTarget } from './request-target.ts'

export function compileUrlRewrite({ host, path }: UrlRewrite): CompiledPolicy {
  return {
    request: (exchange) => {
      const { request } = exchange
      if (host !== undefined && setHost(request, host)) exchange.hasExplicitHost = true
      if (path === undefined) return undefined
      const target = path.full ?? replacePrefix(request.path, exchange.matchedPrefix, path.prefix ?? '/')
      if (target === undefined)
        return exchange.failVisibly('filtersFailed', 'urlRewrite: the path has no matched prefix')
      if (setTarget(request, target)) return undefined
      return exchange.failVisibly('filtersFailed', 'urlRewrite: the result is not a path')
    },
  }
}
