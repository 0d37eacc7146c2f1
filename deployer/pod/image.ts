// The image of the container, written as Kubernetes takes it.
import type { EffectiveParameters } from '../parameters/effective.ts'

/** An empty registry or tag is left out. */
export function imageName({ registry, repository, tag, digest }: EffectiveParameters['image']): string {
  const place = registry === '' ? repository : `${registry}/${repository}`
  const version = tag === '' ? '' : `:${tag}`
  return digest === undefined || digest === '' ? `${place}${version}` : `${place}${version}@${digest}`
}
