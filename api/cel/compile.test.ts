// The compiler and evaluator: positions of mistakes, references, laziness, bounds, and what must stay unreachable.
import { describe, expect, it, vi } from 'vitest'
import { compileCel, compilePermissive, SOURCE_LENGTH_MAX } from './compile.ts'
import { CelError, type CelVariables } from './expression.ts'
import { HeaderView } from './values/header-view.ts'
import { CEL_FIELDS } from './values/host.ts'
import { QueryString } from './values/query-string.ts'
import { evaluate, evaluationError, expressionOf } from './evaluate.testing.ts'

describe('compileCel', () => {
  it.each([
    ['1 +', 1, 4],
    ['a ==\n  == b', 2, 3],
    ['nope(1)', 1, 1],
    ['a.b\n  .nope()', 2, 4],
    ['size()', 1, 1],
    ['has(a)', 1, 1],
    ['[1].map(1, 2)', 1, 9],
    ['[1].exists(a.b, true)', 1, 14],
    ['"a".matches("(")', 1, 5],
    ['cidr("10.0.0.0/33")', 1, 1],
    ['ip("10.0.0.256") == x', 1, 1],
    ['9223372036854775808', 1, 1],
    ['"open', 1, 1],
    ['', 1, 1],
  ])('reports %j at line %d, column %d', (source, line, column) => {
    const compilation = compileCel(source)
    expect(compilation).toEqual({ problem: { line, column, message: expect.stringMatching(/./) } })
  })

  it('accepts texts up to the limit and rejects one character more', () => {
    const longest = `"${'a'.repeat(SOURCE_LENGTH_MAX - 2)}"`
    expect(evaluate(longest)).toHaveLength(SOURCE_LENGTH_MAX - 2)
    expect(compileCel(`${longest} `)).toMatchObject({ problem: { message: expect.stringContaining('16384') } })
  })

  it.each([
    '('.repeat(5000),
    '!'.repeat(16_000) + 'true',
    '[['.repeat(4000),
    '-'.repeat(10_000) + '1',
    'a.b'.repeat(5000),
  ])('refuses deep nesting instead of failing: %.10s…', (source) => {
    expect(compileCel(source)).toHaveProperty('problem')
  })

  it('accepts long chains of one logical operator', () => {
    const chain = Array.from({ length: 500 }, (_, i) => `a == ${i}`).join(' || ')
    expect(evaluate(chain, { a: 499n })).toBe(true)
    expect(evaluate(chain, { a: 500n })).toBe(false)
  })
})

describe('compilePermissive', () => {
  it('turns a text that does not compile into an expression that always fails', () => {
    const expression = compilePermissive('1 +')
    expect(() => expression.evaluate({})).toThrow(CelError)
    expect(() => expression.evaluate({})).toThrow('line 1, column 4')
    expect([...expression.references]).toEqual([])
  })

  it('equals compileCel for a text that compiles', () => {
    expect(compilePermissive('1 + 1').evaluate({})).toBe(2n)
  })
})

describe('references', () => {
  it.each([
    ['request.body', ['request', 'request.body']],
    ['request["body"]', ['request']],
    ['request.headers["x"] == jwt.sub', ['jwt', 'jwt.sub', 'request', 'request.headers']],
    ['has(response.body.x)', ['response', 'response.body']],
    ['default(json(request.body).a, jwt)', ['jwt', 'request', 'request.body']],
    ['[1].map(request, request + 1)', []],
    ['[1].map(x, request.body)', ['request', 'request.body']],
    ['request.?bodyPrefix', ['request', 'request.bodyPrefix']],
    ['request.uri.with(u, u.query("a"))', ['request', 'request.uri']],
    ['base64.encode(b"x") + type(1) == google.protobuf.Duration', []],
    ['variables().request', ['*']],
    ['true || request.body == b""', ['request', 'request.body']],
  ])('of %s', (source, references) => {
    expect([...expressionOf(source).references].sort()).toEqual(references)
  })
})

describe('variables', () => {
  it('are read only when the expression reads them', () => {
    const body = vi.fn<() => string>(() => 'text')
    const jwt = vi.fn<() => unknown>(() => ({ sub: 'a' }))
    const request = {
      path: '/a',
      get body(): string {
        return body()
      },
    }
    const variables = {
      request,
      get jwt(): unknown {
        return jwt()
      },
    }
    expect(evaluate('request.path == "/a" || jwt.sub == request.body', variables)).toBe(true)
    expect(body).not.toHaveBeenCalled()
    expect(jwt).not.toHaveBeenCalled()
    expect(evaluate('request.body', variables)).toBe('text')
    expect(body).toHaveBeenCalledTimes(1)
    expect(jwt).not.toHaveBeenCalled()
  })

  it('may be host objects with getters on their class, which expose only the members they name', () => {
    class Request {
      readonly [CEL_FIELDS] = new Set(['path', 'absent'])
      readonly hidden = 'secret'
      absent: string | undefined
      get path(): string {
        return '/a'
      }
    }
    const variables = { request: new Request() }
    expect(evaluate('request.path', variables)).toBe('/a')
    expect(evaluate('has(request.absent)', variables)).toBe(false)
    expect(evaluationError('request.hidden', variables)).toContain('no such key: hidden')
    expect(evaluationError('request.constructor', variables)).toContain('no such key')
    expect(evaluate('toJson(request)', variables)).toBe('{"path":"/a"}')
    expect(evaluate('type(request) == map && request.exists(k, k == "path")', variables)).toBe(true)
  })

  it('fail to evaluate when they are absent', () => {
    expect(evaluationError('jwt.sub')).toBe('undeclared reference to jwt')
    expect(evaluationError('jwt.sub', { jwt: {} })).toBe('no such key: sub')
    expect(evaluationError('jwt', { jwt: undefined })).toBe('undeclared reference to jwt')
  })

  it.each([
    ['has(jwt.sub)', false],
    ['!has(jwt.sub)', true],
    ['has(jwt.realm.roles) || has(jwt["realm"].roles)', false],
    ['jwt.?sub.orValue("none") == "none" && !jwt[?"sub"].hasValue()', true],
    ['jwt.realm.?roles.hasValue()', false],
    ['[1].exists(x, has(jwt.sub))', false],
    ['has(constructor.name)', false],
  ])('are absent with all their members, not a failure, where presence is asked for: %s', (source, expected) => {
    expect(evaluate(source, {})).toBe(expected)
  })

  it('still fail when a member before the last one is absent', () => {
    expect(evaluationError('has(jwt.realm.roles)', { jwt: {} })).toBe('no such key: realm')
    expect(evaluationError('[1].exists(jwt, has(jwt.sub))', { jwt: {} })).toContain('no such')
  })

  it('whose getter throws fail the evaluation with a CelError', () => {
    const variables: CelVariables = {
      get request(): never {
        throw new TypeError('broken')
      },
    }
    expect(evaluationError('request.path', variables)).toBe('broken')
    expect(evaluate('coalesce(request.path, "x")', variables)).toBe('x')
  })

  it('treats dates as timestamps, at the top level and below', () => {
    const startTime = new Date('2026-01-02T03:04:05.678Z')
    expect(evaluate('request.startTime.getFullYear()', { request: { startTime } })).toBe(2026n)
    expect(evaluate('now > timestamp("2026-01-01T00:00:00Z")', { now: startTime })).toBe(true)
    expect(evaluate('string(now)', { now: startTime })).toBe('2026-01-02T03:04:05.678Z')
    expect(evaluate('[now].map(t, t.getMinutes())', { now: startTime })).toEqual([4n])
  })
})

describe('prototypes', () => {
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'])(
    '%s of the variables, of records, maps, lists and strings is out of reach',
    (name) => {
      const isReserved = name === '__proto__'
      const variables = {
        record: { a: 1 },
        map: new Map(),
        list: [1],
        text: 'x',
        bytes: new Uint8Array(2),
        when: new Date(),
      }
      for (const target of ['record', 'map', 'list', 'text', 'bytes', 'when']) {
        expect(evaluationError(`${target}.${name}`, variables)).toMatch(/no such|has no fields|unsupported/)
        expect(evaluationError(`${target}["${name}"]`, variables)).toMatch(/no such|has no fields|unsupported/)
      }
      if (!isReserved) expect(evaluationError(name, variables)).toContain('undeclared reference')
      expect(evaluate(`"${name}" in record`, variables)).toBe(false)
    },
  )

  it('are ordinary keys in JSON values', () => {
    expect(evaluate(`json('{"__proto__": {"a": 1}}')["__proto__"].a`)).toBe(1n)
    expect(evaluationError(`json('{"__proto__": {"a": 1}}').a`)).toContain('no such key')
    expect(evaluate(`toJson({"__proto__": 1, "constructor": 2})`)).toBe('{"__proto__":1,"constructor":2}')
    expect(Object.hasOwn(Object.prototype, 'a')).toBe(false)
  })
})

describe('bounds', () => {
  it.each([
    ['items.all(a, items.all(b, items.all(c, items.all(d, true))))', 'too many steps'],
    ['items.map(a, items.map(b, items.map(c, c)))', 'too many steps'],
    ['items.map(a, items).map(b, b.map(c, items.map(d, d)))', 'too many steps'],
    ['items.exists(a, items.exists(b, items.exists(c, false))) || true', 'too many steps'],
    ['coalesce(items.all(a, items.all(b, items.all(c, true))), 1)', 'too many steps'],
    ['default(items.all(a, items.all(b, items.all(c, true))), 1)', 'too many steps'],
    ['items.all(a, !text.matches("(x+x+)+y"))', 'too many steps'],
    ['items.all(a, items == copy)', 'too many steps'],
    ['items.all(a, text.replace("a", "b") != "")', 'too many steps'],
    ['items.all(a, json(text) != 1)', 'too many steps'],
    ['items.all(a, !"x".matches("(a{1000}){1}" + string(a)))', 'too many steps'],
    ['items.all(a, record.exists(k, true))', 'too many steps'],
    ['items.all(a, size(record) > 0)', 'too many steps'],
    ['items.all(a, text.split("").size() > 0)', 'too many steps'],
    ['items.all(a, items.all(b, sha256.encode("x") != ""))', 'too many steps'],
    [doublings('x + x', 30), 'grows beyond the limit'],
    [doublings('x + x', 30, 'items'), 'grows beyond the limit'],
    [doublings('x + x', 30, 'bytes(text)'), 'grows beyond the limit'],
    ['text.replace("", text)', 'grows beyond the limit'],
    ['items.map(x, text).join(text)', 'grows beyond the limit'],
    [doublings('[x, x]', 100, 'toJson', 'toJson'), 'grows beyond the limit|too many steps|nested'],
  ])('end %s', (source, message) => {
    const variables = {
      items: Array.from({ length: 10_000 }, (_, i) => BigInt(i)),
      record: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 1n])),
      copy: Array.from({ length: 10_000 }, (_, i) => BigInt(i)),
      text: JSON.stringify('a'.repeat(50_000)),
    }
    expect(evaluationError(source, variables)).toMatch(new RegExp(message))
  })

  it.each([
    'request.headers.split().x.size() > 0',
    'request.headers.x == ""',
    'has(request.headers.x)',
    'default(request.headers.cookie("none"), "") == ""',
    'default(request.uri.query("none"), "") == ""',
    'request.uri.setQuery("none", "1") == ""',
    'request.uri.addQuery("none", "1") == ""',
    'unvalidatedJwtPayload(token).size() > 0',
    'json(members).size() > 0',
    'form.decode(form).size() > 0',
    'form.encode(record) == ""',
    'faces.size() > 0',
    'faces.reverse() == ""',
    'commas.split(",").size() > 0',
  ])('end %s in a loop, after work of less than a second', (step) => {
    const names = Array.from({ length: 5000 }, (_, i) => `k${i.toString(36)}`)
    const members = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])))
    const query = names.map((name) => `%41${name}=%42`).join('&')
    const cookies = names.map((name) => `${name}=1`).join('; ')
    const variables = {
      items: Array.from({ length: 100_000 }, (_, i) => BigInt(i)),
      request: {
        headers: new HeaderView({ fields: ['x', ','.repeat(60_000), 'cookie', cookies] }),
        uri: new QueryString(`http://a.test/?${query}`),
      },
      token: `a.${Buffer.from(members).toString('base64url')}.c`,
      members,
      form: query,
      record: Object.fromEntries(names.map((name) => [name, 1n])),
      faces: '😀'.repeat(25_000),
      commas: ','.repeat(50_000),
    }
    const before = process.cpuUsage()
    expect(evaluationError(`items.all(i, ${step} || true)`, variables)).toContain('too many steps')
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1000)
  })

  it('apply to queries that are added to themselves', () => {
    const uri = new QueryString('http://a.test/')
    expect(evaluationError(doublings('x.addQuery("a", string(x))', 40, 'uri'), { uri })).toMatch(
      /too many steps|grows beyond the limit/,
    )
  })

  it('allow loops over large lists', () => {
    const list = Array.from({ length: 100_000 }, (_, i) => BigInt(i))
    expect(evaluate('items.exists(x, x == 99999)', { items: list })).toBe(true)
    expect(evaluate('items.map(x, x).size()', { items: list })).toBe(100_000n)
  })
})

/** `start` doubled over and over by nested bindings. */
function doublings(step: string, times: number, start = 'text', wrap?: string): string {
  const first = wrap === undefined ? start : 'items'
  let source = 'x'
  for (let i = 0; i < times; i++) source = `(${step}).with(x, ${source})`
  return `${first}.with(x, ${wrap === undefined ? source : `${wrap}(${source})`})`
}

describe('errors', () => {
  it('that one side of a logical operator absorbs', () => {
    expect(evaluate('missing == 1 || true')).toBe(true)
    expect(evaluate('missing == 1 && false')).toBe(false)
    expect(evaluate('false && missing == 1')).toBe(false)
    expect(evaluate('missing.a == 1 || missing.b == 1 || true')).toBe(true)
    expect(evaluationError('missing == 1 || false')).toContain('undeclared')
    expect(evaluationError('missing == 1 && true')).toContain('undeclared')
    expect(evaluationError('1 == 1 && "text"')).toContain('no such overload')
    expect(evaluate('"text" || true')).toBe(true)
  })

  it('have no stack trace and do not change the stack trace limit', () => {
    const before = Error.stackTraceLimit
    const error = caught(() => expressionOf('jwt.sub').evaluate({}))
    expect(error).toBeInstanceOf(CelError)
    expect(error instanceof CelError && error.stack).not.toContain(' at ')
    expect(Error.stackTraceLimit).toBe(before)
  })
})

function caught(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
