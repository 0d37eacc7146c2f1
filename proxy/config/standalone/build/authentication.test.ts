// The modes of client authentication in a standalone file. Their whole rendering: load.golden.test.ts.
import { describe, expect, it } from 'vitest'
import { loadStandalone } from '../load.ts'

const KEY_SET = `'{"keys":[{"kid":"a","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}'`
const POLICIES = {
  jwtAuth: `issuer: i, jwks: ${KEY_SET}`,
  basicAuth: 'htpasswd: "alice:x"',
  apiKey: 'keys: [{ key: k }]',
  mcpAuthentication: `issuer: i, audiences: [a], resourceMetadata: {}, jwks: ${KEY_SET}`,
} as const
const MODES = [
  ['', 'Strict'],
  ['mode: strict, ', 'Strict'],
  ['mode: optional, ', 'Optional'],
] as const
const ROUTE_CASES = Object.entries(POLICIES).flatMap(([name, fields]) =>
  MODES.map(([mode, rendered]) => ({ name, fields, mode, rendered })),
)

describe('the mode of client authentication is strict by default', () => {
  it.each(ROUTE_CASES)('$name of a route, "$mode" is $rendered', ({ name, fields, mode, rendered }) => {
    const policies = `policies: { ${name}: { ${mode}${fields} } }`
    expect(
      modesOf(`gateways: { default: { port: 80 } }\nroutes: [{ ${policies}, backends: [{ host: "a:1" }] }]`),
    ).toEqual([rendered])
  })

  it.each(ROUTE_CASES.filter(({ name }) => name !== 'mcpAuthentication'))(
    '$name of a gateway, "$mode" is $rendered',
    ({ name, fields, mode, rendered }) => {
      const gateway = `gateways: { default: { port: 80, ${name}: { ${mode}${fields} } } }`
      expect(modesOf(`${gateway}\nroutes: [{ backends: [{ host: "a:1" }] }]`)).toEqual([rendered])
    },
  )
})

function modesOf(text: string): string[] {
  const { rendered, problems } = loadStandalone({ path: 'f.yaml', text, environment: {} })
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return [...JSON.stringify(rendered?.config).matchAll(/"mode":"(\w+)"/g)].map(([, mode = '']) => mode)
}
