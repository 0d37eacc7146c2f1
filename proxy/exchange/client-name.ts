// Who sends a request, as the gateway has verified it: for figures about clients. Never a credential.
import type { Exchange } from './exchange.ts'

/** How the gateway knows the client; names of expressions. */
export type ClientKind = 'apiKey' | 'jwt' | 'basicAuth' | 'certificate' | 'none'

/** Of `apiKey`: the name of the entry that holds the key. A symbol, so that expressions do not see it. */
export const KEY_ENTRY: unique symbol = Symbol('entry of the API key')

type Verified = Pick<Exchange, 'attributes' | 'connection'>

/** The first that has verified the client. */
export function clientKind({ attributes, connection }: Verified): ClientKind {
  if (attributes !== undefined) {
    if (attributes['apiKey'] !== undefined) return 'apiKey'
    if (attributes['jwt'] !== undefined) return 'jwt'
    if (attributes['basicAuth'] !== undefined) return 'basicAuth'
  }
  return connection.peer === undefined ? 'none' : 'certificate'
}

/** Empty: the token has no subject, or the client is not known. */
export function clientName(exchange: Verified, kind: ClientKind): string {
  return NAMES[kind](exchange) ?? ''
}

const NAMES: Readonly<Record<ClientKind, (exchange: Verified) => string | undefined>> = {
  apiKey: ({ attributes }) => textAt(attributes?.['apiKey'], 'name') ?? textAt(attributes?.['apiKey'], KEY_ENTRY),
  jwt: ({ attributes }) => textAt(attributes?.['jwt'], 'sub'),
  basicAuth: ({ attributes }) => textAt(attributes?.['basicAuth'], 'username'),
  certificate: ({ connection: { peer } }) => peer?.spiffeId ?? peer?.subject,
  none: () => undefined,
}

/** Claims and metadata may have any value. */
function textAt(value: unknown, member: string | symbol): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const text: unknown = Reflect.get(value, member)
  return typeof text === 'string' && text !== '' ? text : undefined
}
