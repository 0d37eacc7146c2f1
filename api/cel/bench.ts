// Cost of one evaluation in nanoseconds: `node api/cel/bench.ts`. Medians of several rounds on warm code.
import { compileCel } from './compile.ts'
import type { CelVariables } from './expression.ts'
import { HeaderView } from './values/header-view.ts'
import { QueryString } from './values/query-string.ts'

const ROUNDS = 9
const EVALUATIONS = 200_000

const VARIABLES: CelVariables = {
  request: {
    method: 'GET',
    path: '/api/users/42',
    uri: new QueryString('/api/users/42?full=true'),
    headers: new HeaderView({ fields: ['host', 'a', 'accept', '*/*', 'x', 'y', 'user-agent', 'bench'] }),
  },
  response: { code: 503n },
  source: { address: '10.1.2.3' },
  jwt: new Map<string, unknown>([
    ['sub', 'me'],
    ['roles', ['reader', 'writer']],
  ]),
}

const EXPRESSIONS = [
  'request.headers["x"] == "y" && request.path.startsWith("/a")',
  'request.method == "GET"',
  'request.method in ["GET", "HEAD", "OPTIONS"]',
  'response.code >= 500',
  '"writer" in jwt.roles',
  'jwt.roles.exists(r, r == "admin")',
  'default(jwt.tenant, "none") == "none"',
  'has(jwt.tenant) ? jwt.tenant : "none"',
  'apiKey.name == "x"',
  'cidr("10.0.0.0/8").containsIP(source.address)',
  'request.path.matches("^/api/users/[0-9]+$")',
  'request.uri.query("full")[0] == "true"',
]

for (const source of EXPRESSIONS) {
  const compilation = compileCel(source)
  if ('problem' in compilation) throw new Error(compilation.problem.message)
  const { expression } = compilation
  const run = (): void => {
    try {
      expression.evaluate(VARIABLES)
    } catch {
      // A failing condition is one of the cases measured.
    }
  }
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint()
    for (let i = 0; i < EVALUATIONS; i++) run()
    return Number(process.hrtime.bigint() - start) / EVALUATIONS
  }).sort((a, b) => a - b)
  console.log(`${Math.round(rounds[ROUNDS >> 1] ?? 0)} ns/op`.padStart(12), ` ${source}`)
}
