// Why a bind of the configuration is not served. Never silent: each becomes a warning of the applied configuration.
import type { Bind } from '#api/ir/types.gen.ts'
import type { CompiledBind } from './compiled.ts'

export function refusal(bind: Bind, taken: ReadonlyMap<number, CompiledBind>): string | undefined {
  const { key, port, protocol = 'HTTP' } = bind
  if (protocol !== 'HTTP') return `bind ${key}: protocol ${protocol} is not served by this version`
  const other = taken.get(port)
  return other === undefined ? undefined : `bind ${key}: port ${port} is taken by bind ${other.key}`
}
