import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { answerEvaluation } from './cel-evaluation.ts'

const VARIABLES = {
  request: {
    method: 'GET',
    path: '/a',
    uri: 'http://shop.example/a?page=2',
    headers: { 'x-role': 'admin', accept: ['text/html', 'text/plain'] },
    startTime: '2026-11-24T02:00:00.000Z',
  },
  response: { code: 403, headers: {} },
  jwt: { sub: 'alice', level: 3, ratio: 0.5 },
}

const FUNCTIONS = 'isRole(name) { request.headers["x-role"] == name }\nreads() { request.pth }'

let server: Server
let url: string

beforeAll(async () => {
  server = createServer((_request, response) => void answerEvaluation(response, FUNCTIONS))
  url = `http://127.0.0.1:${await listening(server)}/`
})

afterAll(() => closeServer(server))

async function evaluate(expression: string, variables: object = VARIABLES): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ expression, variables }) })
  expect(response.status).toBe(200)
  return response.json()
}

describe('answerEvaluation', () => {
  it.each([
    ['request.headers["X-Role"] == "admin"', true, 'bool'],
    ['request.headers.accept', ['text/html', 'text/plain'], 'list'],
    ['request.uri.query("page")', ['2'], 'list'],
    ['request.startTime.getFullYear() == 2026', true, 'bool'],
    ['isRole("admin")', true, 'bool'],
    ['response.code / 100', 4, 'int'],
    ['jwt.level + 1', 4, 'int'],
    ['jwt.ratio * 2.0', 1, 'double'],
    ['{"a": [1, null]}', { a: [1, null] }, 'map'],
  ])('evaluates %s', async (expression, value, type) => {
    expect(await evaluate(expression)).toEqual({ value, type, names: [] })
  })

  it('reports the place of a mistake', async () => {
    expect(await evaluate('request.path ==\n  )')).toMatchObject({ problem: { line: 2, column: 3 }, names: [] })
  })

  it('reports why an evaluation failed, and names that policies do not have', async () => {
    expect(await evaluate('request.headers["x-b"]')).toEqual({ error: 'no such key: x-b', names: [] })
    expect(await evaluate('reqest.path')).toMatchObject({ names: [{ line: 1, column: 1 }] })
    expect(await evaluate('reads()')).toMatchObject({ names: [{ message: expect.stringContaining('pth') }] })
  })

  it('reports values without a form in JSON', async () => {
    expect(await evaluate('type(1)')).toMatchObject({ error: 'the value has no form in JSON' })
  })

  it('has no variables but the given ones', async () => {
    for (const name of ['env', 'process', 'source']) {
      expect(await evaluate(`${name}.HOME`, {})).toMatchObject({ error: expect.stringContaining(name) })
    }
  })

  it('ends expressions that take too many steps', async () => {
    const list = Array.from({ length: 300 }, (_, i) => i)
    const result = await evaluate('jwt.all(a, jwt.all(b, jwt.all(c, a + b + c >= 0)))', { jwt: list })
    expect(result).toMatchObject({ error: expect.stringContaining('steps') })
  })

  it.each([
    ['[', 400],
    ['{"expression": 1}', 400],
    [JSON.stringify({ expression: 'x'.repeat(16_385) }), 400],
    ['{"expression": "1", "variables": []}', 400],
    ['x'.repeat(1024 * 1024 + 1), 413],
  ])('rejects an invalid body', async (body, status) => {
    expect((await fetch(url, { method: 'POST', body })).status).toBe(status)
  })
})
