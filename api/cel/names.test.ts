// Which misspelt or misplaced names in an expression are reported, and which are not because they may be right.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readsOf } from './compile.ts'
import { nameProblems } from './names.ts'
import { CEL_ABSENT, CEL_NOT_YET, CEL_VARIABLES, type CelMoment } from './variables.ts'

function reported(source: string, moment: CelMoment | undefined): string[] {
  const found = readsOf(source)
  if ('problem' in found) throw new Error(`${source}: ${found.problem.message}`)
  return nameProblems(source, found, moment).map(({ message, line, column }) => `${line}:${column} ${message}`)
}

describe('names that do not exist', () => {
  it.each([
    ['soruce.address == "10.0.0.1"', '1:1 there is no variable soruce; did you mean source?'],
    ['true ||\n  request.headrs["x"] == "1"', '2:11 request has no member headrs; did you mean headers?'],
    ['request["headrs"]["x"] == "1"', '1:1 request has no member headrs; did you mean headers?'],
    ['Request.path', '1:1 there is no variable Request; did you mean request?'],
    ['proxy.gateway.nam', '1:15 proxy.gateway has no member nam; did you mean name?'],
    [
      'source.identity.account',
      '1:17 source.identity has no member account; it has trustDomain, namespace, serviceAccount',
    ],
    ['request.path.length', '1:14 request.path has no members; it has no length'],
    ['basicAuth.user', '1:11 basicAuth has no member user; it has username'],
    ['env.HOME', '1:5 env has no member HOME; it has podName, namespace, gateway'],
    ['request.constructor', expect.stringContaining('request has no member constructor')],
    ['[1].exists(x, x == soruce.port)', '1:20 there is no variable soruce; did you mean source?'],
    ['default(request.headrs, "")', '1:17 request has no member headrs; did you mean headers?'],
    ['coalesce(jwt.sub, user.name)', expect.stringContaining('there is no variable user;')],
    ['soruce.port == soruce.port', '1:1 there is no variable soruce; did you mean source?'],
    ['has(jwt.sub) && request.usr == "x"', expect.stringContaining('request has no member usr;')],
  ])('%s', (source, message) => {
    expect(reported(source, undefined)).toEqual([message])
  })

  it.each([
    'jwt.cliams.admin == "x" && apiKey.tema == 1',
    'request.headers.anything == "x" && request.headers["x"] == "y"',
    'metadata.x == extauthz.y && extproc.z.a.b == llmRequest.q',
    'has(request.headrs) && request.headrs == "x"',
    'has(request.headrs.x)',
    'request.?headrs.orValue("") == "" && request[?"headrs"].orValue("") == ""',
    'jwt.roles.exists(r, r.name == "x")',
    '[1].map(request, request.foo)',
    '{"a": 1}.with(m, m.a == 1) && cel.bind(q, jwt, q.zzz == 1)',
    'type(request.path) == string && base64.encode(b"x") == "eA=="',
    'request.headers.cookie("c") == "d" && request.uri.query("a")[0] == "b"',
    'request[jwt.sub] == "x"',
    'llm.params.max_tokens > 3 && source.subjectAltNames[0] == "x"',
    'google.protobuf.Duration == type(duration("1s"))',
  ])('reports no problem for %s', (source) => {
    expect(reported(source, undefined)).toEqual([])
  })
})

it('reports the first eight unknown names of an expression, each once', () => {
  const names = Array.from({ length: 20 }, (_, i) => `unknown${i}`)
  const messages = reported([...names, ...names].join(' + '), undefined)
  expect(messages.map((message) => /variable (\w+);/.exec(message)?.[1])).toEqual(names.slice(0, 8))
})

describe('names that are not available yet', () => {
  const request = 'not available: the expression is evaluated before the request is sent to a backend'
  it.each([
    ['response.code == 200', 'request', [`1:1 response: ${request}`]],
    ['response.code == 200', 'response', []],
    ['response.code == 200', 'backend', [expect.stringContaining('1:1 response: not available')]],
    [
      'request.endTime > request.startTime',
      'response',
      [expect.stringContaining('1:9 request.endTime: not available')],
    ],
    ['request.endTime > request.startTime', 'log', []],
    ['proxy.upstreamDuration > duration("1s")', 'request', [`1:7 proxy.upstreamDuration: ${request}`]],
    ['proxy.upstreamDuration > duration("1s")', 'response', []],
    ['proxy.route.name == "r"', 'routing', [expect.stringContaining('before a route is selected')]],
    ['proxy.route.name == "r"', 'request', []],
    ['llm.requestModel == "m"', 'request', [`1:1 llm: ${request}`]],
    ['llm.requestModel == "m" && mcp.tool.name == backend.name', 'backend', []],
    ['llmRequest.temperature > 1.0', 'model', []],
    ['llmRequest.temperature > 1.0', 'log', [expect.stringContaining('1:1 llmRequest: not available')]],
    ['request.path == "/"', 'connection', [expect.stringContaining('can only read source')]],
    ['source.address == "::1"', 'connection', []],
    ['env.podName', 'start', []],
    ['source.port', 'start', [expect.stringContaining('can only read env')]],
    ['default(response.code, 0) == 0', 'request', []],
    ['has(response.code) ? response.code : 0', 'request', []],
    ['"response" in variables() && response.code == 200', 'request', []],
    ['default(llm.cost, 0) == 0', 'log', []],
    ['jwt.sub == "x" && apiKey.key == "y"', 'routing', []],
  ] as const)('%s, %s', (source, moment, messages) => {
    expect(reported(source, moment)).toEqual(messages)
  })

  it.each([...CEL_NOT_YET])('%s is reported as not yet available, not as a mistake', (name) => {
    const found = readsOf(name)
    const problems = 'problem' in found ? [] : nameProblems(name, found, undefined)
    expect(problems).toMatchObject([
      { isNotYet: true, message: `${name} is not supported by this version of the proxy; reading it fails` },
    ])
  })
})

describe('the lists', () => {
  it('contain only names of the language at each moment', () => {
    for (const names of [CEL_NOT_YET, ...Object.values(CEL_ABSENT)]) {
      for (const name of names) expect(reported(name, undefined).join()).not.toMatch(/there is no|has no/)
    }
  })

  it('are those of the user page', () => {
    const page = readFileSync(new URL('../../docs/cel.md', import.meta.url), 'utf8')
    const missing = Object.entries(CEL_VARIABLES).flatMap(([name, shape]) => {
      const row = page.split('\n').find((line) => line.startsWith('| ') && line.split('|')[1]?.includes(`\`${name}\``))
      if (row === undefined) return [name]
      const members = shape === 'open' ? [] : Object.keys(shape)
      return members.filter((member) => !row.includes(member)).map((member) => `${name}.${member}`)
    })
    expect(missing).toEqual([])
    expect([...CEL_NOT_YET].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})
