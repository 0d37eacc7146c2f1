// Sends a fetched token as the bearer of the request, in place of what the client sent.
import { TokenError, type TokenSource } from '../../credentials/token.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { AuthEnvironment, CompiledAuth } from './kind.ts'
import { DEFAULT_LOCATION, writerFor } from './location.ts'
import { tokenFor } from './sent-token.ts'

/** `kind`: starts the text in the log. */
export function bearerOf(
  kind: string,
  source: TokenSource<string>,
  { tokens }: Pick<AuthEnvironment, 'tokens'>,
): CompiledAuth {
  const write = writerFor(DEFAULT_LOCATION)
  return {
    note: `writes a token of ${kind}: ${source.name.owner}`,
    request: (exchange) => {
      const token = tokenFor(exchange, tokens, { source })
      if (!(token instanceof Promise)) {
        write(exchange.request, token.value)
        return undefined
      }
      return token.then(
        ({ value }) => {
          write(exchange.request, value)
          return undefined
        },
        (error: unknown) => failed(exchange, kind, error),
      )
    },
  }
}

function failed(exchange: Exchange, kind: string, error: unknown): ReturnType<Exchange['fail']> {
  if (!(error instanceof TokenError)) throw error
  return exchange.fail('backendAuthFailed', { log: `${kind}: ${error.message}`, client: 'no access token' })
}
