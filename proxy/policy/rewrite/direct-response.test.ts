import { describe, expect, it } from 'vitest'
import type { DirectResponseOrConditional } from '#api/ir/types.gen.ts'
import { compileDirectResponse } from './direct-response.ts'
import { environmentOf, exchangeOf, fieldsOf, runRequest, type ExchangeParts } from '../exchange.testing.ts'

function answer(payload: DirectResponseOrConditional, parts: ExchangeParts = {}): unknown {
  const exchange = exchangeOf(parts)
  const response = runRequest(compileDirectResponse(payload, environmentOf()), exchange)
  if (response === undefined) return undefined
  const { body, status, headers } = response
  return {
    status,
    headers: fieldsOf(headers),
    body: Buffer.isBuffer(body) ? body.toString() : body,
    reason: exchange.reason,
  }
}

const plain = 'content-type: text/plain'

describe('direct response', () => {
  it.each<[DirectResponseOrConditional, number, string[], string]>([
    [{ status: 204 }, 204, [], ''],
    [{ status: 200, body: 'hello' }, 200, [plain], 'hello'],
    [{ status: 599, bodyExpression: '"at " + request.path' }, 599, [plain], 'at /p'],
    [{ status: 200, bodyExpression: 'b"raw"' }, 200, [plain], 'raw'],
    [{ status: 200, bodyExpression: '{"path": request.path}' }, 200, [plain], '{"path":"/p"}'],
    [{ status: 200, bodyExpression: '""' }, 200, [], ''],
    [
      { status: 200, body: '{}', headers: [{ name: 'Content-Type', expression: '"application/json"' }] },
      200,
      ['content-type: application/json'],
      '{}',
    ],
    [
      {
        status: 200,
        headers: [
          { name: 'x-bad', expression: 'request.headers["absent"]' },
          { name: 'x-evil', expression: '"a\\nb"' },
          { name: 'content-length', expression: '"9"' },
          { name: 'x-good', expression: 'request.method' },
        ],
      },
      200,
      ['x-good: GET'],
      '',
    ],
  ])('%j', (payload, status, headers, body) => {
    expect(answer(payload, { path: '/p' })).toEqual({ status, headers, body, reason: 'DirectResponse' })
  })

  it('fails if the body expression does', () => {
    expect(answer({ status: 200, bodyExpression: 'request.headers["absent"]' })).toMatchObject({
      status: 500,
      body: 'failed to apply filters: direct response body',
      reason: 'Internal',
    })
  })

  it('uses the first condition that is true', () => {
    const payload: DirectResponseOrConditional = {
      conditional: [
        { condition: 'request.headers["absent"] == "x"', policy: { status: 500 } },
        { condition: 'request.path == "/a"', policy: { status: 201 } },
        { condition: '"not a boolean"', policy: { status: 500 } },
        { condition: 'request.path.startsWith("/a")', policy: { status: 202 } },
      ],
    }
    expect(answer(payload, { path: '/a' })).toMatchObject({ status: 201 })
    expect(answer(payload, { path: '/ab' })).toMatchObject({ status: 202 })
    expect(answer(payload, { path: '/b' })).toBeUndefined()
  })

  it('reports which bodies it reads', () => {
    const environment = environmentOf()
    expect(compileDirectResponse({ status: 200, bodyExpression: 'request.body' }, environment).readsRequestBody).toBe(
      true,
    )
    expect(compileDirectResponse({ status: 200, body: 'x' }, environment).readsRequestBody).toBe(false)
    const conditional = { conditional: [{ condition: 'size(request.body) > 0', policy: { status: 200 } }] }
    // A literal list has the one element that the type requires.
    const payload = conditional as DirectResponseOrConditional
    expect(compileDirectResponse(payload, environment).readsRequestBody).toBe(true)
  })
})
