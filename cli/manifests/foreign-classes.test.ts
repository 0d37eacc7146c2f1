// Which Gateways are reported for their class.
import { expect, it } from 'vitest'
import { foreignClasses } from './foreign-classes.ts'
import { loadManifests } from './load.ts'

const gateway = (className: string): string => `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: ${className}
  listeners: [{name: web, port: 80, protocol: HTTP}]
`
const OTHER = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: other}
spec: {controllerName: example.com/controller}
`
const problemsOf = (...texts: readonly string[]): string[] =>
  foreignClasses(loadManifests([{ path: 'f.yaml', text: texts.join('---') }])).map(
    ({ line, path, message, severity }) => `${line} ${severity} ${path}: ${message}`,
  )

it('reports a class that is not among the manifests', () => {
  expect(problemsOf(gateway('nginx'))).toEqual([
    '6 warning spec.gatewayClassName: GatewayClass nginx is not among these manifests: Gw does not serve this Gateway; write gw, or add the class',
  ])
})

it('does not report gw, and classes that are there', () => {
  expect(problemsOf(gateway('gw'))).toEqual([])
  expect(problemsOf(gateway('other'), OTHER)).toEqual([])
})
