// Services of a file: rejected input, with field and cure. Accepted input: testdata/discovery.in.yaml.
import { expect, it } from 'vitest'
import { loadStandalone } from '../load.ts'

const ECHO = '{ name: echo, ports: { 80: 8080 } }'
const NAME = 'default/echo.default.svc.cluster.local'
const at = (workload: string): string => `services: [${ECHO}]\nworkloads: [${workload}]`
const asked = (place: string): string =>
  `services: [${ECHO}]\nroutes: [{ policies: { extAuthz: { ${place} }, directResponse: { status: 200 } } }]`
const routed = (backend: string): string => `services: [${ECHO}]\nroutes: [{ backends: [${backend}] }]`

it.each([
  [
    at(`{ name: a, workloadIps: [10.0.0.1], services: { ${NAME.replace('echo', 'eco')}: {} } }`),
    'workloads[0].services["default/eco.default.svc.cluster.local"]: there is no service default/eco.default.svc.cluster.local; did you mean default/echo.default.svc.cluster.local?',
  ],
  [at(`{ name: a, workloadIps: [10.0.0.1], services: { ${NAME}: { 81: 1 } } }`), 'the service has no port 81'],
  [at(`{ name: a, workloadIps: [host.test], services: {} }`), 'workloads[0].workloadIps[0]: must be an IP address'],
  [at(`{ name: a, workloadIps: [], services: {} }`), 'workloads[0].workloadIps: must be at least 1 items long'],
  [at(`{ name: a, workloadIps: [10.0.0.1], services: {}, capacity: -1 }`), 'workloads[0].capacity: must be at least 0'],
  [
    at(`{ name: a, workloadIps: [10.0.0.1], services: {}, capacity: 1000001 }`),
    'workloads[0].capacity: must be at most 1000000',
  ],
  [
    at('{ name: a, workloadIps: [10.0.0.1], services: {} }, { name: a, workloadIps: [10.0.0.2], services: {} }'),
    'workloads[1]: workload default/a already exists',
  ],
  [`services: [${ECHO}, ${ECHO}]`, `services[1]: service ${NAME} already exists`],
  [
    'services: [{ name: echo, ports: { 0: 1 } }]',
    'services[0].ports: the names must be ports from 1 to 65535, for example {80: 8080}',
  ],
  ['services: [{ name: echo, ports: { 65536: 1 } }]', 'services[0].ports: the names must be ports'],
  ['services: [{ name: echo, ports: { 80: 8080 }, vips: [a] }]', 'services[0].vips: must be empty'],
  [
    'services: [{ name: echo, ports: { 80: 8080 }, locality: { preferences: [rack] } }]',
    'services[0].locality.preferences[0]: must be one of network, cluster, region, zone, subzone, node',
  ],
  [
    routed('{ service: { name: echo, port: 80 } }'),
    'routes[0].backends[0].service.name: there is no service echo; declare it in services',
  ],
  [
    routed(`{ service: { name: ${NAME}, port: 81 } }`),
    `routes[0].backends[0].service.port: the service ${NAME} has no port 81`,
  ],
  [
    routed(`{ service: { name: ${NAME}, port: 80 }, host: "127.0.0.1:1" }`),
    'must have exactly one of host, backend, service,',
  ],
  [
    routed(`{ service: { name: ${NAME}, port: 80 }, policies: { a2a: {} } }`),
    'policies.a2a: must be set in appProtocols of the service',
  ],
  [
    asked('service: { name: echo, port: 80 }'),
    'routes[0].policies.extAuthz.service.name: there is no service echo; declare it in services',
  ],
  [
    asked(`target: { service: { name: ${NAME}, port: 81 } }`),
    `routes[0].policies.extAuthz.target.service.port: the service ${NAME} has no port 81`,
  ],
  [
    asked(`service: { name: ${NAME}, port: 80 }, host: "127.0.0.1:1"`),
    'routes[0].policies.extAuthz: must have exactly one of host, backend, service, either here or under target',
  ],
  [
    asked(`service: { name: ${NAME}, port: 80 }, policies: { tcp: { connectTimeout: 1s } }`),
    'routes[0].policies.extAuthz.policies: must be set in policies with the service as target.backend',
  ],
])('rejects %s', (text, expected) => {
  const { problems, rendered } = loadStandalone({
    path: '/nowhere/file.yaml',
    text: `gateways: { default: { port: 8080 } }\n${text}\n`,
    environment: {},
  })
  expect(problems.map(({ path, message }) => `${path}: ${message}`).join('\n')).toContain(expected)
  expect(rendered).toBeUndefined()
})
