// One GET of a key set: over TCP, through a proxy when there is one, with the TLS that its policies
// require. Follows no redirect, and connects to no address that only this process should reach.
import { Context, Effect, Layer } from 'effect'
import type { JwksRequest } from '../translate/policy/jwks-request.ts'
import { JwksFetchError } from './errors.ts'
import type { AddressRule } from './address-rule.ts'
import { openConnection } from './connection.ts'
import type { JwksAnswer } from './exchange.ts'
import { getOver } from './exchange.ts'

export class JwksHttp extends Context.Service<
  JwksHttp,
  { readonly get: (request: JwksRequest) => Effect.Effect<JwksAnswer, JwksFetchError> }
>()('gw/operator/jwks/JwksHttp') {
  static layer(rule: AddressRule): Layer.Layer<JwksHttp> {
    return Layer.succeed(JwksHttp, JwksHttp.of({ get: (request) => get(request, rule) }))
  }
}

/** Interruption closes the connection. */
function get(request: JwksRequest, rule: AddressRule): Effect.Effect<JwksAnswer, JwksFetchError> {
  return Effect.tryPromise({
    try: async (signal) => {
      const socket = await openConnection(request, rule, signal)
      try {
        return await getOver(socket, request, signal)
      } finally {
        socket.destroy()
      }
    },
    catch: (error) => new JwksFetchError({ url: request.url, detail: detailOf(error) }),
  })
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  // Several addresses may have been tried; the error that contains theirs has no message.
  return error.message === '' ? (code ?? error.name) : error.message
}
