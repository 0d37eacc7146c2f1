// Groups of routes, policies with targets, dynamic backends and tunnels of a standalone file, on a real proxy.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadStandalone } from '#proxy/config/standalone/load.ts'
import { startProxy, type RunningProxy } from '#proxy/main.ts'
import { ask } from '#test/conformance/suite/ask.ts'
import { egress } from '#test/conformance/suite/egress.ts'
import { closeServer, freePort, listening } from '#test/ports.ts'

const ANY = { host: '127.0.0.1', port: 0 }
const servers: Server[] = []
let proxy: RunningProxy
let url: string
let upstream: number

beforeAll(async () => {
  const server = createServer((request, response) => response.end(`${request.headers.host} ${request.url}`))
  const proxyServer = egress()
  servers.push(server, proxyServer)
  upstream = await listening(server)
  const port = await freePort()
  const text = `
gateways: { default: { port: ${port} } }
routes:
- { name: shop, matches: [{ path: { pathPrefix: /shop } }], backends: [{ routeGroup: shop }] }
- { name: any, matches: [{ path: { pathPrefix: /any } }], backends: [{ dynamic: {} }] }
- name: far
  matches: [{ path: { pathPrefix: /far } }]
  backends:
  - host: "echo.internal:${upstream}"
    policies: { backendTunnel: { proxy: { host: "127.0.0.1:${await listening(proxyServer)}" } } }
- name: near
  matches: [{ path: { pathPrefix: /near } }]
  backends: [{ service: { name: default/echo.test, port: 80 } }]
services:
- { name: echo, hostname: echo.test, ports: { 80: ${upstream} }, locality: { preferences: [zone] } }
workloads:
- { name: near, workloadIps: [127.0.0.1], locality: { zone: here }, services: { default/echo.test: {} } }
- { name: drained, workloadIps: [127.0.0.1], locality: { zone: here }, capacity: 0, services: { default/echo.test: { 80: 1 } } }
- { name: far, workloadIps: [127.0.0.1], locality: { zone: there }, services: { default/echo.test: { 80: 1 } } }
routeGroups:
- name: shop
  routes:
  - { name: cart, matches: [{ path: { pathPrefix: /shop/cart } }], backends: [{ host: "127.0.0.1:${upstream}" }] }
policies:
- name: { name: closed }
  target: { gateway: { gatewayName: default } }
  phase: gateway
  policy: { authorization: { rules: [{ deny: '"x-closed" in request.headers' }] } }
- { name: { name: gone }, target: { route: { name: cart } }, policy: { authorization: { rules: [{ deny: 'request.path.endsWith("/gone")' }] } } }
`
  const { rendered, problems } = loadStandalone({ path: '/nowhere/file.yaml', text, environment: {} })
  if (rendered === undefined) throw new Error(JSON.stringify(problems))
  proxy = await startProxy({
    workers: 1,
    listenAddress: '127.0.0.1',
    admin: ANY,
    stats: ANY,
    readiness: ANY,
    accessLog: false,
    logLevel: 'error',
    dynamicForwardAllow: ['127.0.0.1'],
    place: { zone: 'here' },
  })
  const applied = await proxy.apply(rendered.config, rendered.secrets)
  if ('problem' in applied) throw new Error(applied.problem.message)
  url = `http://127.0.0.1:${port}`
})

afterAll(async () => {
  await proxy.stop({ isForced: true })
  for (const server of servers) closeServer(server)
})

it('delegates requests to a group', async () => {
  expect(await ask(`${url}/shop/cart/1`)).toMatchObject({ status: 200, text: expect.stringContaining('/shop/cart/1') })
  expect(await ask(`${url}/shop/other`)).toMatchObject({ status: 404 })
})

it('prefers endpoints of its own zone with capacity', async () => {
  for (let i = 0; i < 40; i++) expect(await ask(`${url}/near/${i}`)).toMatchObject({ status: 200 })
})

it('attaches policies to their targets', async () => {
  expect(await ask(`${url}/shop/cart/gone`)).toMatchObject({ status: 403 })
  expect(await ask(`${url}/shop/cart`, { headers: { 'x-closed': '1' } })).toMatchObject({ status: 403 })
})

it('connects to the host of the request', async () => {
  const host = `127.0.0.1:${upstream}`
  expect(await ask(`${url}/any/x`, { headers: { host } })).toMatchObject({ status: 200, text: `${host} /any/x` })
})

it('connects through a proxy', async () => {
  expect(await ask(`${url}/far/x`)).toMatchObject({ status: 200, text: expect.stringContaining('/far/x') })
})
