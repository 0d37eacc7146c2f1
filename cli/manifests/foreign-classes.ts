// Reports Gateways whose class is not among the manifests and is not `gw`: another controller may serve them, not Gw.
import { isRecord } from '#api/json.ts'
import type { FileProblem } from '#api/source/document.ts'
import type { LoadedManifests } from './load.ts'

export function foreignClasses(loaded: LoadedManifests): FileProblem[] {
  const classes = new Set(
    loaded.objects.filter(({ kind }) => kind === 'GatewayClass').map(({ metadata }) => metadata.name),
  )
  return loaded.objects.flatMap((object) => {
    const { kind, metadata, spec } = object as typeof object & { readonly spec?: unknown } // of any kind
    const className = kind === 'Gateway' && isRecord(spec) ? spec['gatewayClassName'] : undefined
    if (typeof className !== 'string' || classes.has(className)) return []
    const path = 'spec.gatewayClassName'
    const name = { kind, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
    const place = loaded.locate(name, path) ?? { file: `Gateway/${name.name}`, line: 0, column: 0 }
    const message = `GatewayClass ${className} is not among these manifests: Gw does not serve this Gateway; write gw, or add the class`
    return [{ ...place, path, message, severity: 'warning' as const, reason: 'NoMatchingClass' }]
  })
}
