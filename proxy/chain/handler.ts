// The handler of an exchange: a compiled backend of any kind.
import type { Exchange } from '../exchange/exchange.ts'

/**
 * Answers one exchange: calls `done` exactly once, with `exchange.response` set (a failure of the registry included).
 * Never throws.
 */
export type BackendHandler = (exchange: Exchange, done: (exchange: Exchange) => void) => void
