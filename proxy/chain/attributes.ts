// Sets the variables of policies that later expressions read. See Exchange.attributes.
import type { Exchange } from '../exchange/exchange.ts'

export type AttributeName = 'jwt' | 'apiKey' | 'basicAuth' | 'extauthz' | 'extproc' | 'mcpGuardrails'

export function setAttribute(exchange: Exchange, name: AttributeName, value: Readonly<Record<string, unknown>>): void {
  // The declared shape of the field; Object.create has no better type.
  exchange.attributes ??= Object.create(null) as Record<string, unknown>
  exchange.attributes[name] = value
}
