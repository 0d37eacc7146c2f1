// Why a bind of the configuration is not served. Each case is a warning of the applied configuration.
import type { Bind, Listener } from '#api/ir/types.gen.ts'
import type { CompiledBind } from './compiled.ts'

export function refusal(
  bind: Bind,
  listeners: readonly Listener[],
  taken: ReadonlyMap<number, CompiledBind>,
): string | undefined {
  const { key, port, protocol } = bind
  const other = taken.get(port)
  if (other !== undefined) return `bind ${key}: port ${port} is already used by bind ${other.key}`
  // The bytes of plain TCP do not identify a listener.
  if (protocol !== 'TCP' || listeners.length === 1) return undefined
  return `bind ${key}: a port of protocol TCP must have exactly one listener, it has ${listeners.length}`
}
