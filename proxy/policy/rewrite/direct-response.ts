// Responds in place of a backend.
import type { DirectResponse, DirectResponseOrConditional } from '#api/ir/types.gen.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HttpResponse } from '../../message/message.ts'
import { compileConditional } from '../../chain/conditional.ts'
import type { ChainEnvironment } from '../../chain/environment.ts'
import { evaluateBody, evaluateText, FAILED, readsBody } from '../../cel/evaluate.ts'
import type { CompiledPolicy } from '../../chain/filter.ts'
import { isFramingField } from '../../message/header-field.ts'

type Environment = Pick<ChainEnvironment, 'expression'>

export function compileDirectResponse(payload: DirectResponseOrConditional, environment: Environment): CompiledPolicy {
  return 'conditional' in payload
    ? compileConditional(payload.conditional, environment, (policy) => compilePlain(policy, environment))
    : compilePlain(payload, environment)
}

function compilePlain(payload: DirectResponse, environment: Environment): CompiledPolicy {
  const { status, body = '', bodyExpression } = payload
  const expression = bodyExpression === undefined ? undefined : environment.expression(bodyExpression)
  const headers = (payload.headers ?? [])
    .map(({ name, expression: source }) => ({ name: name.toLowerCase(), value: environment.expression(source) }))
    .filter(({ name }) => !isFramingField(name))

  function respond(exchange: Exchange): HttpResponse {
    // A header expression that fails is dropped; a body that fails fails the whole response.
    const fields: [string, string][] = []
    for (const { name, value } of headers) {
      const text = evaluateText(value, exchange)
      if (text !== undefined) fields.push([name, text])
    }
    const content = expression === undefined ? body : evaluateBody(expression, exchange)
    if (content === FAILED) return exchange.fail('directResponseFailed')
    exchange.reason = 'DirectResponse'
    if (typeof content === 'string') return HttpResponse.local(status, content, fields)
    const response = HttpResponse.local(status, '', fields)
    response.body = content
    if (content.length > 0 && !response.headers.has('content-type')) {
      response.headers.append('content-type', 'text/plain')
    }
    return response
  }

  return {
    request: respond,
    readsRequestBody: readsBody([expression, ...headers.map(({ value }) => value)], 'request'),
  }
}
