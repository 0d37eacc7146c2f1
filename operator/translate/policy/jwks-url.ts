// The URL of a remote key set: what a reference to a Service or a static GwBackend means to the control plane, which
// fetches it. Never used by the proxy.
import type { RemoteJWKS } from '#api/v1alpha1/shared.gen.ts'
import { CORE_GROUP, GW_GROUP } from '../groups.ts'
import type { KubeObject } from '../kube.ts'
import { matchesLabels } from '../labels.ts'
import { namespaceOf } from '../object-ref.ts'
import { resolveReference } from '../reference.ts'
import type { Snapshot } from '../snapshot.ts'
import type { FieldScope } from './field.ts'

export type JwksUrl = { readonly url: string } | { readonly reason: string; readonly message: string }

interface TlsTarget {
  readonly group: string
  readonly kind: 'Service' | 'GwBackend'
  readonly object: KubeObject
  /** Names of the part that is called, as section names of policies. */
  readonly sections: readonly string[]
}

export function jwksUrl({ backendRef, jwksPath }: RemoteJWKS, { owner, references }: FieldScope): JwksUrl {
  const from = { group: GW_GROUP, kind: owner.kind, namespace: owner.namespace }
  const { ref, invalid } = resolveReference(backendRef, from, references)
  if (invalid !== undefined) return invalid
  const path = jwksPath.replace(/^\/+/, '')
  const { name, namespace = owner.namespace } = backendRef
  return ref.service === undefined
    ? backendUrl({ namespace, name, path }, references.snapshot)
    : serviceUrl({ ...ref.service, name, path }, references.snapshot)
}

interface ServicePlace {
  readonly hostname: string
  readonly namespace: string
  readonly name: string
  readonly port: number
  readonly path: string
}

function serviceUrl({ hostname, namespace, name, port, path }: ServicePlace, snapshot: Snapshot): JwksUrl {
  const object = snapshot.Service.get(namespace, name)
  const portName = object?.spec?.ports?.find((one) => one.port === port)?.name
  const sections = [String(port), ...(portName === undefined ? [] : [portName])]
  const isTls = object !== undefined && hasTls({ group: CORE_GROUP, kind: 'Service', object, sections }, snapshot)
  return { url: `${isTls ? 'https' : 'http'}://${hostname}:${port}/${path}` }
}

interface BackendPlace {
  readonly namespace: string
  readonly name: string
  readonly path: string
}

function backendUrl({ namespace, name, path }: BackendPlace, snapshot: Snapshot): JwksUrl {
  const object = snapshot.GwBackend.get(namespace, name)
  const at = object?.spec.static
  if (object === undefined || at === undefined) {
    return { reason: 'UnsupportedValue', message: `only static backends are supported; ${namespace}/${name} is none` }
  }
  const isTls =
    object.spec.policies?.tls !== undefined ||
    hasTls({ group: GW_GROUP, kind: 'GwBackend', object, sections: [] }, snapshot)
  const { host = '', port, unixPath } = at
  const authority = unixPath === undefined ? `${host.includes(':') ? `[${host}]` : host}:${port}` : `unix:${unixPath}:`
  return { url: `${isTls ? 'https' : 'http'}://${authority}/${path}` }
}

/** Port 443 alone says nothing: TLS is what a policy asks for. */
function hasTls(target: TlsTarget, { BackendTLSPolicy, GwPolicy }: Snapshot): boolean {
  const namespace = namespaceOf(target.object)
  const isHere = (policy: KubeObject): boolean => namespaceOf(policy) === namespace
  return (
    BackendTLSPolicy.all.some((one) => isHere(one) && one.spec.targetRefs.some((ref) => isNamed(ref, target))) ||
    GwPolicy.all.some(
      ({ metadata, spec }) =>
        (metadata.namespace ?? '') === namespace &&
        spec.backend?.tls !== undefined &&
        ((spec.targetRefs ?? []).some((ref) => isNamed(ref, target)) ||
          (spec.targetSelectors ?? []).some(
            ({ matchLabels, ...ref }) =>
              matchesLabels(matchLabels, target.object.metadata.labels) && isSection(ref, target),
          )),
    )
  )
}

interface SectionRef {
  readonly group: string
  readonly kind: string
  readonly sectionName?: string
}

function isNamed(ref: SectionRef & { readonly name: string }, target: TlsTarget): boolean {
  return ref.name === target.object.metadata.name && isSection(ref, target)
}

function isSection({ group, kind, sectionName }: SectionRef, target: TlsTarget): boolean {
  return (
    group === target.group &&
    kind === target.kind &&
    (sectionName === undefined || target.sections.includes(sectionName))
  )
}
