// Sets whether the Host header becomes the name of the backend; the backend code applies it.
import type { HostRewrite } from '#api/ir/types.gen.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'

export function compileHostRewrite({ mode }: HostRewrite): CompiledPolicy {
  const said = mode === 'Auto' ? 'the host is set to that of the backend' : 'the host is unchanged'
  return {
    request: (exchange) => {
      exchange.hostRewriteMode = mode
      exchange.trace?.note(said)
      return undefined
    },
  }
}
