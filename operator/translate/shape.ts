// The shape of objects that translation relies on: an object without it stays out of the snapshot, so that it affects
// no other object. The schema checks far more; this protects against older CRDs and hand-written manifests.
import { isRecord } from '#api/json.ts'
import type { SnapshotKind } from './snapshot-kinds.ts'

type Check = (value: unknown) => boolean

export function hasShape(kind: SnapshotKind, object: object): boolean {
  return SHAPES[kind](object)
}

/** Whether the value is an object with a kind and a name at all. */
export const isNamedObject: Check = record({
  apiVersion: isString,
  kind: isString,
  metadata: record({
    name: isString,
    namespace: optional(isString),
    creationTimestamp: optional(isString),
    generation: optional(isNumber),
    labels: nullable(recordOf(isString)),
    annotations: nullable(recordOf(isString)),
    ownerReferences: optional(listOf(isRecord)),
  }),
})

const selector = record({
  matchLabels: optional(recordOf(isString)),
  matchExpressions: optional(listOf(record({ key: isString, operator: isString, values: optional(listOf(isString)) }))),
})
const namespaces = optional(record({ selector: optional(selector) }))
const listener = record({
  name: isString,
  port: isNumber,
  protocol: isString,
  hostname: optional(isString),
  allowedRoutes: optional(record({ kinds: optional(listOf(record({ kind: isString }))), namespaces })),
  tls: optional(record({ certificateRefs: optional(listOf(record({ name: isString }))) })),
})
const validation = optional(
  record({ caCertificateRefs: listOf(record({ group: isString, kind: isString, name: isString })) }),
)
const frontendTls = record({
  default: optional(record({ validation })),
  perPort: optional(listOf(record({ port: isNumber, tls: optional(record({ validation })) }))),
})
const entries = optional(listOf(isRecord))
const route = record({
  spec: record({
    parentRefs: optional(listOf(record({ name: isString, namespace: optional(isString) }))),
    hostnames: optional(listOf(isString)),
    rules: optional(listOf(record({ name: optional(isString) }))),
  }),
  status: optional(record({ parents: entries })),
})
const l4Route = record({
  spec: record({
    parentRefs: optional(listOf(record({ name: isString, namespace: optional(isString) }))),
    hostnames: optional(listOf(isString)),
    rules: listOf(record({ name: optional(isString), backendRefs: listOf(record({ name: isString })) })),
  }),
  status: optional(record({ parents: entries })),
})
const modelTargets = optional(record({ targets: listOf(record({ modelRef: record({ name: isString }) })) }))
const provider = record({ name: isString })
const hintedNames = nullable(listOf(record({ name: isString })))
const policyTarget = { group: isString, kind: isString, sectionName: optional(isString) }

const SHAPES: { readonly [K in SnapshotKind]: Check } = {
  GatewayClass: record({ spec: record({ controllerName: isString }) }),
  Gateway: record({
    spec: record({
      gatewayClassName: isString,
      listeners: listOf(listener),
      addresses: entries,
      allowedListeners: optional(record({ namespaces })),
      tls: optional(
        record({
          backend: optional(record({ clientCertificateRef: optional(record({ name: isString })) })),
          frontend: optional(frontendTls),
        }),
      ),
    }),
  }),
  ListenerSet: record({ spec: record({ parentRef: record({ name: isString }), listeners: listOf(listener) }) }),
  HTTPRoute: route,
  GRPCRoute: route,
  TCPRoute: l4Route,
  TLSRoute: l4Route,
  ReferenceGrant: record({ spec: record({ from: listOf(isRecord), to: listOf(isRecord) }) }),
  BackendTLSPolicy: record({
    spec: record({
      targetRefs: listOf(record({ group: isString, kind: isString, name: isString, sectionName: optional(isString) })),
      validation: record({
        hostname: isString,
        caCertificateRefs: optional(listOf(record({ group: isString, kind: isString, name: isString }))),
        subjectAltNames: entries,
      }),
    }),
    status: optional(record({ ancestors: entries })),
  }),
  Namespace: isRecord,
  Node: isRecord,
  Service: record({
    spec: optional(
      record({
        ports: optional(listOf(record({ port: isNumber, name: optional(isString) }))),
        clusterIPs: optional(listOf(isString)),
      }),
    ),
    status: optional(record({ loadBalancer: optional(record({ ingress: entries })) })),
  }),
  EndpointSlice: record({
    endpoints: nullable(
      listOf(
        record({
          addresses: listOf(isString),
          conditions: nullable(isRecord),
          targetRef: nullable(isRecord),
          hints: nullable(record({ forZones: hintedNames, forNodes: hintedNames })),
        }),
      ),
    ),
    ports: nullable(listOf(isRecord)),
  }),
  Pod: record({
    spec: optional(record({ nodeName: optional(isString), serviceAccountName: optional(isString) })),
    status: optional(
      record({
        podIP: optional(isString),
        podIPs: optional(listOf(record({ ip: isString }))),
        conditions: optional(listOf(record({ type: isString, status: isString }))),
      }),
    ),
  }),
  InferencePool: record({
    spec: record({
      selector: record({ matchLabels: recordOf(isString) }),
      targetPorts: listOf(record({ number: isNumber })),
      endpointPickerRef: record({ name: isString, port: optional(record({ number: isNumber })) }),
    }),
    status: optional(record({ parents: entries })),
  }),
  Secret: record({ data: nullable(recordOf(isString)), stringData: nullable(recordOf(isString)) }),
  ConfigMap: record({ data: nullable(recordOf(isString)) }),
  GwBackend: record({
    spec: record({
      mcp: optional(record({ targets: listOf(record({ name: isString })) })),
      ai: optional(record({ groups: optional(listOf(record({ providers: listOf(provider) }))) })),
    }),
  }),
  GwModel: record({
    spec: record({
      parentRefs: listOf(record({ name: isString, namespace: optional(isString) })),
      match: optional(record({ model: optional(isString) })),
      virtualModel: optional(record({ weighted: modelTargets, failover: modelTargets, conditional: modelTargets })),
    }),
    status: optional(record({ parents: entries })),
  }),
  GwPolicy: record({
    spec: record({
      targetRefs: optional(listOf(record({ ...policyTarget, name: isString }))),
      targetSelectors: optional(listOf(record({ ...policyTarget, matchLabels: recordOf(isString) }))),
    }),
    status: optional(record({ ancestors: entries })),
  }),
}

function isString(value: unknown): boolean {
  return typeof value === 'string'
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

function optional(check: Check): Check {
  return (value) => value === undefined || check(value)
}

/** Lists and maps of core kinds may be written as null. */
function nullable(check: Check): Check {
  return (value) => value === undefined || value === null || check(value)
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check)
}

function recordOf(check: Check): Check {
  return (value) => isRecord(value) && Object.values(value).every(check)
}

function record(fields: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(fields)
  return (value) => isRecord(value) && entries.every(([name, check]) => check(value[name]))
}
