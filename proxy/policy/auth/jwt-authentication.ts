// Checks JSON Web Tokens of clients (data-plane supplement section 8.2). A valid token is removed from the
// request; its claims are CEL `jwt`.
import type { JwtAuthentication } from '#api/ir/types.gen.ts'
import { compileCredentialReader, type CredentialReader } from '../../auth/credential-reader.ts'
import { JWT_BUSY, type JwtClaims, type JwtRefusal } from '../../auth/jwt-verifier.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { compileMcpOauth } from './mcp-oauth/mcp-oauth.ts'
import { setAttribute } from '../../chain/attributes.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import type { CompiledPolicy, Filter, Verdict } from '../../chain/filter.ts'

export function compileJwtAuthentication(
  auth: JwtAuthentication,
  environment: Pick<ChainEnvironment, 'auth' | 'expression' | 'origin' | 'secret' | 'mcpSignIn'>,
): CompiledPolicy & { readonly request: Filter } {
  const { mode, mcp } = auth
  const oauth = mcp === undefined ? undefined : compileMcpOauth(mcp, auth, environment)
  const verifier = environment.auth.jwt(auth)
  const reader = compileCredentialReader(auth.location, 'Bearer ', environment.expression)
  const missing = missingKeys(auth)
  const conclude = (exchange: Exchange, result: JwtClaims | JwtRefusal): Verdict => {
    if (typeof result === 'string') {
      if (result === 'unknown key') for (const note of missing) exchange.trace?.note(note)
      if (mode === 'Permissive') {
        exchange.trace?.note(`mode Permissive allows the request: ${result}`)
        return undefined
      }
      const refusal = refuse(exchange, reader, result)
      if (result !== JWT_BUSY) oauth?.challenge(exchange, 'invalid_token')
      return refusal
    }
    reader.remove(exchange)
    exchange.trace?.note(`valid token from issuer ${String(result['iss'])}`)
    setAttribute(exchange, 'jwt', result)
    return undefined
  }
  const check = (exchange: Exchange): Verdict | Promise<Verdict> => {
    const token = reader.read(exchange)
    if (token === undefined) {
      if (mode !== 'Strict') {
        exchange.trace?.skip(`no token; mode ${mode} allows the request`)
        return undefined
      }
      const refusal = exchange.failVisibly('jwtAuthFailed', 'no token found')
      oauth?.challenge(exchange, undefined)
      return refusal
    }
    const result = verifier.verify(token)
    return result instanceof Promise ? result.then((late) => conclude(exchange, late)) : conclude(exchange, result)
  }
  return {
    request: oauth === undefined ? check : (exchange) => oauth.serve(exchange) ?? check(exchange),
    readsRequestBody: reader.readsRequestBody,
  }
}

/** A key is also unknown if its set was never fetched. */
function missingKeys({ providers }: JwtAuthentication): string[] {
  return providers.flatMap(({ issuer = 'any issuer', unavailable }) =>
    unavailable === undefined ? [] : [`no keys of ${issuer}: ${unavailable}`],
  )
}

/** A rejected token is removed as well: a token in the query must not be logged. */
function refuse(exchange: Exchange, reader: CredentialReader, refusal: JwtRefusal): Verdict {
  reader.remove(exchange)
  return refusal === JWT_BUSY
    ? exchange.fail('overloaded', 'too many tokens to verify')
    : exchange.failVisibly('jwtAuthFailed', refusal)
}
