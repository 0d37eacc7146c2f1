// Checks user names and passwords of clients (data-plane supplement section 8.2). Valid credentials are removed
// from the request; the name is CEL `basicAuth.username`.
import type { BasicAuthentication } from '#api/ir/types.gen.ts'
import { parseBasicCredentials } from '../../auth/basic-credentials.ts'
import { compileCredentialReader, isProxyAuthorization } from '../../auth/credential-reader.ts'
import { NOT_CHECKED, type PasswordResult } from '../../auth/password-checker.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { setAttribute } from '../../chain/attributes.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import type { CompiledPolicy, Verdict } from '../../chain/filter.ts'
import { fieldValue } from '../../message/header-field.ts'

export function compileBasicAuthentication(
  auth: BasicAuthentication,
  environment: Pick<ChainEnvironment, 'auth' | 'expression'>,
): CompiledPolicy {
  const isStrict = auth.mode === 'Strict'
  const table = environment.auth.basic(auth)
  const reader = compileCredentialReader(auth.location, 'Basic ', environment.expression)
  const refuse = refusal(auth)
  const conclude = (exchange: Exchange, name: string, result: PasswordResult): Verdict => {
    // Rejected credentials are removed as well: those in the query must not be logged.
    reader.remove(exchange)
    if (result === NOT_CHECKED) return exchange.fail('overloaded', 'too many passwords to check')
    if (!result) return refuse(exchange, 'invalid credentials')
    exchange.trace?.note(`the user is ${name}`)
    setAttribute(exchange, 'basicAuth', { username: name })
    return undefined
  }
  return {
    request: (exchange) => {
      const presented = reader.read(exchange)
      if (presented === undefined) {
        if (isStrict) return refuse(exchange, 'no credentials found')
        exchange.trace?.skip('no credentials; mode Optional allows the request')
        return undefined
      }
      const credentials = parseBasicCredentials(presented)
      if (credentials === undefined) {
        reader.remove(exchange)
        return refuse(exchange, 'invalid credentials')
      }
      const { name, password } = credentials
      const result = table.check(name, password)
      return result instanceof Promise
        ? result.then((late) => conclude(exchange, name, late))
        : conclude(exchange, name, result)
    },
    readsRequestBody: reader.readsRequestBody,
  }
}

/** With the challenge (RFC 9110 section 11.6.1); gRPC clients get a status instead. */
function refusal({ realm, location }: BasicAuthentication): (exchange: Exchange, detail: string) => Verdict {
  const isProxy = isProxyAuthorization(location)
  const code = isProxy ? 'proxyBasicAuthFailed' : 'basicAuthFailed'
  const name = isProxy ? 'proxy-authenticate' : 'www-authenticate'
  const quoted = fieldValue(realm)?.replaceAll(/["\\]/g, String.raw`\$&`) ?? 'Restricted'
  const challenge = `Basic realm="${quoted}"`
  return (exchange, detail) => {
    const response = exchange.failVisibly(code, detail)
    if (!exchange.isGrpc) response.headers.append(name, challenge)
    return response
  }
}
