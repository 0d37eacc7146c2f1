// Conversations for tests of guards; not used by the proxy.
import { exchangeOf } from '../../policy/exchange.testing.ts'
import type { Guard, GuardPhase, GuardVerdict, TextSpan } from './guard.ts'

export function spansOf(...texts: readonly string[]): readonly TextSpan[] {
  return texts.map((text, index) => ({ role: 'user', text, at: `messages[${index}].content` }))
}

export async function verdictOn(guard: Guard, texts: readonly string[], phase: GuardPhase): Promise<GuardVerdict> {
  return guard.check({ phase, spans: spansOf(...texts), exchange: exchangeOf(), upstreamHeaders: undefined })
}
