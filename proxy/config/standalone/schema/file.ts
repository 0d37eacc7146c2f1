// The whole standalone file (resources supplement 4.4 to 4.6, 4.8, 4.11).
import * as z from 'zod'
import type { LookupFamily } from '#api/units/lookup-family.ts'
import { parseLevelFilter } from '../../../log/level-filter.ts'
import { authorityOf } from '../../../mesh/settings.ts'
import { isTrustDomain } from '../../../mesh/spiffe-id.ts'
import { MCP_SESSION_TTL_MS_MIN } from '../../../mcp/session-ttl.ts'
import { parseSessionKeys, SESSION_KEYS_RULE } from '../../../mcp/legacy/session-keys.ts'
import { mcpShape, namedBackend, routeBackend } from './backends.ts'
import { service, serviceReference, workload } from './discovery.ts'
import { customFunctions } from './functions.ts'
import { headerMatch } from './header-match.ts'
import { fields, notServed, oneShape, ONE_FIELD } from './object.ts'
import { llm } from './llm.ts'
import { bindProtocol, frontendPolicies, gateway, hostname, tls } from './listeners.ts'
import { catalogSource } from './model-catalog.ts'
import { gatewayPolicies, routePolicies, uiPolicies } from './policies.ts'
import { processBackend, processHbone } from './process-connections.ts'
import { targetedPolicy } from './targets.ts'
import { logFormat, processLogShape, processMetrics, processTracing } from './telemetry.ts'
import { backendTLS, backendTunnel } from './upstream.ts'
import { address, name, parseAddress, port, regex, stringMatch, text, duration } from './values.ts'

const WORKERS_MAX = 64
const CATALOG_SOURCES_MAX = 16
const WEIGHT_MAX = 1_000_000

const pathValue = z.string().regex(/^\//, { error: 'must begin with /' })
const pathMatch = fields({
  exact: pathValue.optional(),
  pathPrefix: pathValue.optional(),
  regex: regex.optional(),
})
  .refine((value) => Object.keys(value).length === 1, {
    error: 'must have exactly one of exact, pathPrefix, regex',
  })
  .meta(ONE_FIELD)
const match = fields({
  path: pathMatch.optional(),
  method: z
    .string()
    .regex(/^[A-Z]{1,32}$/, { error: 'must be a method in capitals, such as GET' })
    .optional(),
  headers: z.array(headerMatch).optional(),
  query: z.array(fields({ name: text, value: stringMatch })).optional(),
})

const routeShape = {
  name: name.optional(),
  namespace: name.optional(),
  ruleName: name.optional(),
  hostnames: z.array(hostname).optional(),
  matches: z.array(match).min(1).optional(),
  policies: routePolicies.optional(),
  backends: z.array(routeBackend).optional(),
}
const nameList = z.array(text).min(1)
const gatewayNames = oneShape<string | string[]>((value) => (Array.isArray(value) ? nameList : text), [nameList, text])
const gatewayRoute = fields({ gateways: gatewayNames.optional(), ...routeShape })
const bindRoute = fields(routeShape)

const routeGroup = fields({ name, routes: z.array(bindRoute).min(1) })

const tcpPolicies = fields({ backendTLS: backendTLS.optional(), backendTunnel: backendTunnel.optional() })
const tcpBackend = fields({
  weight: z.int().min(0).max(WEIGHT_MAX).optional(),
  host: address.optional(),
  backend: text.optional(),
  service: serviceReference.optional(),
  policies: tcpPolicies.optional(),
})
const tcpRouteShape = {
  name: name.optional(),
  namespace: name.optional(),
  ruleName: name.optional(),
  hostnames: z.array(hostname).optional(),
  policies: fields({ backendTLS: backendTLS.optional() }).optional(),
  backends: z.array(tcpBackend).min(1),
}
const gatewayTcpRoute = fields({ gateways: gatewayNames.optional(), ...tcpRouteShape })
const bindTcpRoute = fields(tcpRouteShape)

const mcp = fields({
  port: port.optional(),
  gateways: gatewayNames.optional(),
  ...mcpShape,
  policies: routePolicies.optional(),
})

const bindListener = fields({
  name: name.optional(),
  namespace: name.optional(),
  hostname: hostname.optional(),
  protocol: bindProtocol.optional(),
  tls: tls.optional(),
  routes: z.array(bindRoute).optional(),
  tcpRoutes: z.array(bindTcpRoute).optional(),
  policies: gatewayPolicies.optional(),
})
const tunnelProtocol = z.enum(['direct', 'proxy', 'connect', 'hboneGateway'], {
  error: ({ input }) =>
    input === 'hboneWaypoint'
      ? 'hboneWaypoint is not supported: the proxy accepts tunnels to its own ports (hboneGateway), but not to other workloads'
      : 'must be one of direct, proxy, connect, hboneGateway',
})
const bind = fields({
  port,
  listeners: z.array(bindListener).min(1),
  tunnelProtocol: tunnelProtocol.optional(),
  mode: z.enum(['standard', 'internal']).optional(),
})

/** Port 0 lets the system choose. */
const serverAddress = z.string().transform((value, context) => {
  const parsed = parseAddress(value, 0)
  if (parsed !== undefined) return parsed
  context.addIssue({ code: 'custom', message: 'must be host:port, for example localhost:15000' })
  return z.NEVER
})
const logLevel = z.string().superRefine((value, context) => {
  const parsed = parseLevelFilter(value)
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem })
})
const sessionKey = z.string().transform((value, context): readonly Uint8Array[] => {
  const keys = parseSessionKeys(value)
  if (keys !== undefined) return keys
  context.addIssue({ code: 'custom', message: `must be ${SESSION_KEYS_RULE}` })
  return z.NEVER
})
const sessionTtl = duration.refine((ms) => ms >= MCP_SESSION_TTL_MS_MIN, { error: 'must be at least 1s' })
/** As in the environment, in lower case. */
const FAMILIES = {
  V4Preferred: 'V4_PREFERRED',
  All: 'ALL',
  Auto: 'AUTO',
  V4Only: 'V4_ONLY',
  V6Only: 'V6_ONLY',
} as const satisfies Readonly<Record<string, LookupFamily>>
const lookupFamily = z
  .enum(['V4Preferred', 'All', 'Auto', 'V4Only', 'V6Only'])
  .transform((value): LookupFamily => FAMILIES[value])
const trustDomain = text.refine(isTrustDomain, { error: 'must be the name of a trust domain, such as cluster.local' })
const authority = text.refine((value) => authorityOf(value) !== undefined, {
  error: 'must be https://host or https://host:port',
})
const config = fields({
  adminAddr: serverAddress.optional(),
  statsAddr: serverAddress.optional(),
  readinessAddr: serverAddress.optional(),
  workerThreads: z.int().min(1).max(WORKERS_MAX).optional(),
  session: fields({ key: sessionKey }).optional(),
  mcp: fields({ sessionTtl: sessionTtl.optional() }).optional(),
  dns: fields({
    lookupFamily: lookupFamily.optional(),
    ...notServed(['edns0'], '; remove it: the resolver of the system decides'),
  }).optional(),
  modelCatalog: z.array(catalogSource).max(CATALOG_SOURCES_MAX).optional(),
  logging: fields({
    level: logLevel.optional(),
    format: logFormat.optional(),
    ...processLogShape,
    ...notServed(['database'], '; use frontendPolicies.accessLog.otlp to store entries elsewhere'),
    ...notServed(['otlp'], '; use frontendPolicies.accessLog.otlp'),
  }).optional(),
  tracing: processTracing.optional(),
  metrics: processMetrics.optional(),
  customFunctions: customFunctions.optional(),
  connectionTerminationDeadline: duration.optional(),
  connectionMinTerminationDeadline: duration.optional(),
  network: text.optional(),
  clusterId: text.optional(),
  namespace: text.optional(),
  gateway: text.optional(),
  caAddress: authority.optional(),
  trustDomain: trustDomain.optional(),
  additionalTrustDomains: z.array(trustDomain).optional(),
  skipValidateTrustDomain: z.boolean().optional(),
  serviceAccount: text.optional(),
  ...notServed(['xdsAddress', 'xdsAuthToken', 'localXdsPath'], '; the file has all configuration'),
  ...notServed(['caAuthToken'], '; set the variable CA_AUTH_TOKEN to the file with the token'),
  ...notServed(['enableIpv6'], '; use gw run --listen-address, such as :: for all addresses'),
  backend: processBackend.optional(),
  hbone: processHbone.optional(),
  ...notServed(['standardAttributes'], '; use add of frontendPolicies.accessLog, and attributes of tracing'),
  ...notServed(['storage'], '; remove it: the file has all settings'),
  ...notServed(['database'], '; use frontendPolicies.accessLog.otlp to store entries of the log'),
  ...notServed(['pricing'], '; use modelCatalog'),
})

const ui = fields({ gateways: gatewayNames.optional(), policies: uiPolicies.optional() })

export const standaloneFile = fields({
  config: config.optional(),
  gateways: z.record(name, gateway).optional(),
  routes: z.array(gatewayRoute).optional(),
  tcpRoutes: z.array(gatewayTcpRoute).optional(),
  frontendPolicies: frontendPolicies.optional(),
  mcp: mcp.optional(),
  backends: z.array(namedBackend).optional(),
  binds: z.array(bind).optional(),
  routeGroups: z.array(routeGroup).optional(),
  policies: z.array(targetedPolicy).optional(),
  services: z.array(service).optional(),
  workloads: z.array(workload).optional(),
  llm: llm.optional(),
  /** For editors. */
  $schema: z.string().optional(),
  ui: ui.optional(),
})

export type UiFields = z.output<typeof ui>
export type StandaloneFile = z.output<typeof standaloneFile>
export type RouteFields = z.output<typeof bindRoute>
export type RouteGroupFields = z.output<typeof routeGroup>
export type TcpRouteFields = z.output<typeof bindTcpRoute>
export type MatchFields = z.output<typeof match>
export type McpFields = z.output<typeof mcp>
export type BindFields = z.output<typeof bind>
export type ConfigFields = z.output<typeof config>
